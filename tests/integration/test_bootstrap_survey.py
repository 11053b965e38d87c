"""What ``bootstrap`` reports about a folder: its program, its links and its attachments."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Invoke, read_json, write_notes

NOTES = {
    "Boat.md": "# Boat\n\nThe mast of [[Ann]], ![[mast.png]] and [[Nowhere]].\n",
    "people/Ann.md": "# Ann\n\nShe owns the [boat](../Boat.md).\n",
    "img/mast.png": "",
    "img/sail.JPG": "",
    "drafts/plan.pdf": "",
    ".gitignore": "drafts/\n",
    "node_modules/logo.png": "",
}


@pytest.mark.parametrize(
    ("mark", "app"),
    [
        (".obsidian/app.json", "Obsidian"),
        ("logseq/config.edn", "Logseq"),
        (".foam/templates/day.md", "Foam"),
        ("x.txt", ""),
    ],
)
def test_the_program_and_the_files_of_a_folder(invoke: Invoke, home: Path, mark: str, app: str) -> None:
    """Excluded files do not count; a link to a picture is a link and not broken. A second run reports the same."""
    write_notes(home / "vault", {**NOTES, mark: "{}"})

    for _ in range(2):
        done = read_json(invoke("bootstrap", home / "vault", "--json"))
        assert done["survey"] == {"app": app, "notes": 2, "links": 4, "broken_links": 1, "attachments": 2}
    text = invoke("bootstrap", home / "vault").stdout

    named = f"{app} folder" if app else "Folder"
    assert f"{named}: 2 notes, 4 links (1 lead nowhere; see: clawmem links --broken)" in text
    assert ("2 attachments, not read." in text) == bool(app)
    assert "Nowhere" in invoke("links", "--broken").stdout


def test_plain_notes_without_links(invoke: Invoke, notes: Path) -> None:
    """There is nothing to report."""
    assert "older:" not in invoke("bootstrap", notes).stdout
