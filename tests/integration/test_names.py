"""Names of notes, as a person searches for them: file names, folders, titles and aliases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .conftest import Invoke

BACKENDS = ("sqlite", "tantivy", "lancedb")

NOTES = {
    "Clients/Acme Rocketworks.md": "# Kick-off\n\nWeekly call on Mondays.\n\nThe budget is signed.\n",
    "Clients/Blue Harbour.md": "# First meeting\n\nThey want a quote for the acme of cranes.\n",
    "journal/2026-05-04.md": "# Monday\n\nWrote to two clients about rocketworks and slept.\n",
    "People/ok.md": "---\naliases: [Oksana]\n---\n# Head of purchasing\n\nReach her after nine.\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Notes of which some are known by names that stand nowhere in their text."""
    return written(tmp_path / "vault", NOTES)


def written(folder: Path, notes: dict[str, str]) -> Path:
    """*notes*, by path and text, as files in *folder*."""
    for name, text in notes.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


def results(invoke: Invoke, *args: str) -> list[dict[str, Any]]:
    """The results of a question on the command line."""
    done = invoke("--json", *args)
    assert done.exit_code == 0, done.output
    found: list[dict[str, Any]] = json.loads(done.stdout)["results"]
    return found


def paths(invoke: Invoke, *args: str) -> list[str]:
    """The paths of the results, in their order."""
    return [result["path"] for result in results(invoke, *args)]


@pytest.mark.parametrize("unit", ["document", "line"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_note_with_a_heading_is_found_by_its_file_name(
    invoke: Invoke, folder: Path, backend: str, unit: str
) -> None:
    """As a whole and line by line, whichever engine keeps the index."""
    assert invoke("--backend", backend, "bootstrap", folder).exit_code == 0

    found = paths(invoke, "--backend", backend, "search", "Acme Rocketworks", "--unit", unit)

    assert found[0] == "Clients/Acme Rocketworks.md"


@pytest.mark.parametrize("unit", ["document", "line"])
def test_notes_are_found_by_their_folder_and_by_their_alias(invoke: Invoke, folder: Path, unit: str) -> None:
    """Every note of the folder; the alias finds the note whose title and text do not hold it."""
    assert invoke("bootstrap", folder).exit_code == 0

    found = paths(invoke, "search", "Clients", "--unit", unit)

    assert {"Clients/Acme Rocketworks.md", "Clients/Blue Harbour.md"} <= set(found)
    assert paths(invoke, "search", "Oksana", "--unit", unit)[:1] == ["People/ok.md"]


def test_a_note_that_is_moved_is_found_by_its_new_folder(invoke: Invoke, folder: Path) -> None:
    """The old folder's name finds it no more."""
    assert invoke("bootstrap", folder).exit_code == 0
    (folder / "Archive").mkdir()
    (folder / "People/ok.md").rename(folder / "Archive/ok.md")
    assert invoke("update").exit_code == 0

    assert paths(invoke, "search", "Archive") == ["Archive/ok.md"]
    assert paths(invoke, "search", "People") == []
