"""Front matter as an answer: telling properties are quoted, technical ones are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Invoke, ask_json, write_notes

NOTES = {
    "decisions/2025-07-01-entry-by-password.md": "---\ndate: 2025-07-01\n---\n# Old entry\n\nEverybody types a phrase.\n",
    "decisions/2025-11-04-entry.md": "---\ndate: 2025-11-04\nsupersedes: [decisions/2025-07-01-entry-by-password.md]\n"
    "cssclasses: [wide-parchment]\nsupplier: Gloria Ironworks\n---\n# Entry\n\n"
    "Members come in by a key fob.\n\nA password is not needed.\n",
}


@pytest.mark.parametrize("question", ["entry by password", "does entry need passwords", "wide parchment"])
@pytest.mark.parametrize("way", ["query", "search"])
def test_technical_properties_are_not_quoted(indexed: Invoke, way: str, question: str) -> None:
    """A match in ``supersedes`` or ``cssclasses`` never is the shown line."""
    shown = indexed(way, "--all", question).output

    assert "supersedes:" not in shown
    assert "cssclasses" not in shown


def test_a_property_of_the_user_is_quoted(indexed: Invoke) -> None:
    """A property that tells something is shown, with its line."""
    shown = indexed("search", "Gloria Ironworks").output

    assert "supplier: Gloria Ironworks" in shown
    assert "notes/decisions/2025-11-04-entry.md:5" in shown


def test_the_type_of_a_note(invoke: Invoke, tmp_path: Path) -> None:
    """``type`` counts where it names a known content type; ``content_type`` goes before it."""
    heads = {
        "ferry/known.md": "type: decision",
        "ferry/capitals.md": "type: Problem",
        "ferry/other.md": "type: daily",
        "ferry/both.md": "type: decision\ncontent_type: preference",
    }
    notes = {path: f"---\n{head}\n---\n# A ferry\n\nIt sails at nine.\n" for path, head in heads.items()}
    write_notes(tmp_path, notes)

    invoke("bootstrap", tmp_path / "ferry", "--skip-embed")

    kinds = {one["file"]: one["content_type"] for one in ask_json(invoke, "list")["documents"]}
    assert kinds == dict(zip(heads, ("decision", "problem", "note", "preference"), strict=True))
