"""Front matter as an answer: telling properties are quoted, technical ones are not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Invoke, write_notes

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


@pytest.mark.parametrize("question", ["who is the deputy observer", "phone number of Ines Kubo"])
def test_a_property_answers(invoke: Invoke, tmp_path: Path, question: str) -> None:
    """Its note is found and shows it, in an answer and in a prompt, before notes that share other words."""
    notes = {
        "ines.md": "---\ntype: person\nrole: deputy observer\nphone: 0345 556677\n---\n# Ines Kubo\n\nTakes over when I am away.\n",
        "list.md": "# Load list\n\nThe observer writes the number of the phone on the list of Ines.\n",
        "talk.md": "# Talk\n\nTwenty minutes on the day of the observer, who is the speaker and has a number.\n",
    }
    write_notes(tmp_path / "n", notes)
    assert invoke("bootstrap", tmp_path / "n").exit_code == 0
    value = "role: deputy observer" if "deputy" in question else "phone: 0345 556677"

    (first, *_) = json.loads(invoke("query", "--all", question, "--json").stdout)["results"]

    assert (first["path"], value in first["snippet"]) == ("ines.md", True)
    assert value in invoke("surface", question).stdout
