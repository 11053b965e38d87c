"""Front matter as an answer: telling properties are quoted, technical ones and broken YAML are not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Invoke, write_notes
from command_process import run_process

NOTES = {
    "decisions/2025-07-01-entry-by-password.md": "---\ndate: 2025-07-01\n---\n# Old entry\n\nEverybody types a phrase.\n",
    "decisions/2025-11-04-entry.md": "---\ndate: 2025-11-04\nsupersedes: [decisions/2025-07-01-entry-by-password.md]\n"
    "cssclasses: [wide-parchment]\nsupplier: Gloria Ironworks\n---\n# Entry\n\n"
    "Members come in by a key fob.\n\nA password is not needed.\n",
    "broken.md": "---\ntitle: [ferry\nowner: {timetable ferry\n---\n# Ferry\n\nThe ferry timetable hangs at the pier: boats at nine.\n",
}


@pytest.fixture
def vault(invoke: Invoke, tmp_path: Path) -> Invoke:
    """The command line over the notes."""
    root = tmp_path / "notes"
    write_notes(root, NOTES)
    invoke("collection", "add", root)
    invoke("update", "--embed")
    return invoke


@pytest.mark.parametrize("question", ["entry by password", "does entry need passwords", "wide parchment"])
@pytest.mark.parametrize("way", ["query", "search"])
def test_technical_properties_are_not_quoted(vault: Invoke, way: str, question: str) -> None:
    """A match in ``supersedes`` or ``cssclasses`` never is the shown line."""
    shown = vault(way, "--all", question).output

    assert "supersedes:" not in shown
    assert "cssclasses" not in shown


def test_a_property_of_the_user_is_quoted(vault: Invoke) -> None:
    """A property that tells something is shown, with its line."""
    shown = vault("search", "Gloria Ironworks").output

    assert "supplier: Gloria Ironworks" in shown
    assert "notes/decisions/2025-11-04-entry.md:5" in shown


def test_a_line_of_tags_is_no_answer(invoke: Invoke, tmp_path: Path) -> None:
    """A note that matches by its tags and its title shows its text."""
    note = "---\ntags: [choir]\n---\n# Rehearsal 19 November\n\nNew soprano: Katarzyna. The concert begins at 18:00.\n"
    write_notes(tmp_path / "notes", {"r.md": note})
    invoke("collection", "add", tmp_path / "notes")
    invoke("update", "--embed")
    shown = invoke("query", "when is the choir rehearsal").output

    assert "New soprano: Katarzyna." in shown
    assert "tags:" not in shown


def test_broken_front_matter_is_not_in_a_block(vault: Invoke, environ: dict[str, str]) -> None:
    """A hook quotes the text below malformed front matter, not the YAML."""
    asked = "When does the ferry leave by the timetable at the pier?"
    shown = run_process("surface", "--context", "--stdin", environ=environ, input=asked, check=True).stdout

    assert "boats at nine" in shown
    assert "owner:" not in shown
    assert "[ferry" not in shown


def types(invoke: Invoke) -> dict[str, str]:
    """The type of each listed document, by its path."""
    return {
        one["file"]: one["content_type"] for one in json.loads(invoke("list", "--json").stdout)["documents"]
    }


def test_the_type_of_a_note(invoke: Invoke, tmp_path: Path) -> None:
    """``type`` counts where it names a known content type; ``content_type`` goes before it."""
    heads = {
        "known.md": "type: decision",
        "capitals.md": "type: Problem",
        "other.md": "type: daily",
        "both.md": "type: decision\ncontent_type: preference",
    }
    for path, head in heads.items():
        (tmp_path / path).write_text(f"---\n{head}\n---\n# A ferry\n\nIt sails at nine.\n", "utf-8")

    invoke("bootstrap", tmp_path, "--name", "ferry", "--skip-embed", "--yes")

    assert types(invoke) == {
        "ferry/known.md": "decision",
        "ferry/capitals.md": "problem",
        "ferry/other.md": "note",
        "ferry/both.md": "preference",
    }


def test_front_matter_without_an_end_is_reported(invoke: Invoke, tmp_path: Path) -> None:
    """Like broken YAML; a rule above a text is none."""
    (tmp_path / "open.md").write_text("---\ntitle: Ferry\n\nThe ferry sails at nine.\n", "utf-8")
    (tmp_path / "rule.md").write_text("---\n\nNote: the ferry sails at ten.\n", "utf-8")
    invoke("collection", "add", tmp_path, "--name", "ferry", "--yes")

    updated = invoke("update")

    reported = "  ferry/open.md: front matter taken as text: no line '---' ends it."
    assert [line for line in updated.stdout.splitlines() if "front matter" in line] == [reported]
    assert (
        json.loads(invoke("search", "--json", "sails at nine").stdout)["results"][0]["file"]
        == "ferry/open.md"
    )
