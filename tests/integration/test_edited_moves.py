"""Notes that are renamed and edited between two updates: what was chosen for them stays, or its loss is reported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import Invoke
from typer.testing import Result

PARAGRAPHS = (
    "The harbour office opens at seven and closes when the last ferry has left the pier.",
    "Fuel is ordered on Mondays, because the barge from Larvik comes on Wednesdays only.",
    "Keys of the sheds hang behind the door; whoever takes one writes it into the book.",
)
TEXT = "# Harbour\n\n" + "\n\n".join(PARAGRAPHS) + "\n"
EDITED = TEXT.replace("at seven", "at half past six")
COUNTS = "desk: {} added, {} updated, {} removed, {} unchanged"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of the collection ``desk``: one note."""
    made = tmp_path / "desk"
    (made / "old").mkdir(parents=True)
    (made / "harbour.md").write_text(TEXT, "utf-8")
    return made


@pytest.fixture
def chosen(invoke: Invoke, folder: Path) -> Invoke:
    """``invoke`` over a vault in which the note is pinned and snoozed."""
    invoke("bootstrap", folder, "--skip-embed")
    assert invoke("pin", "desk/harbour.md").exit_code == 0
    assert invoke("snooze", "desk/harbour.md").exit_code == 0
    return invoke


def counts(updated: Result) -> str:
    return updated.stdout.splitlines()[0]


def status(invoke: Invoke) -> dict[str, Any]:
    return json.loads(invoke("archive", "--status", "--json").stdout)


def is_pinned(invoke: Invoke, note: str) -> bool:
    return not json.loads(invoke("pin", note, "--json").stdout)["changed"]


@pytest.mark.parametrize("name", ["pier.md", "old/office.md"])
def test_a_renamed_and_edited_note_keeps_its_pin_and_snooze(chosen: Invoke, folder: Path, name: str) -> None:
    """The title and most of the text are the same: it is the same note."""
    (folder / "harbour.md").unlink()
    (folder / name).write_text(EDITED, "utf-8")

    assert counts(chosen("update")) == COUNTS.format(0, 1, 0, 0)
    assert (status(chosen)["pinned"], status(chosen)["snoozed"]) == (1, 1)
    assert "half past six" in chosen("get", f"desk/{name}").stdout
    assert is_pinned(chosen, f"desk/{name}")


def test_a_note_that_moved_under_another_title_keeps_its_pin(chosen: Invoke, folder: Path) -> None:
    """The file name is the same, and most of the text."""
    (folder / "harbour.md").unlink()
    (folder / "old/harbour.md").write_text(TEXT.replace("# Harbour", "# The old harbour"), "utf-8")

    chosen("update")

    assert is_pinned(chosen, "desk/old/harbour.md")


def test_references_to_the_former_path_still_lead_to_the_note(chosen: Invoke, folder: Path) -> None:
    """A note that supersedes it by its former path supersedes it at the new one."""
    (folder / "closing.md").write_text("---\nsupersedes: harbour.md\n---\n# Closing\n\nIt closes.\n", "utf-8")
    chosen("update")
    (folder / "harbour.md").unlink()
    (folder / "pier.md").write_text(EDITED, "utf-8")
    chosen("update")

    found = json.loads(chosen("get", "desk/pier.md", "--json").stdout)

    assert found["superseded_by"]["file"] == "desk/closing.md"


@pytest.mark.parametrize("text", [TEXT, EDITED], ids=["unchanged", "edited later"])
def test_the_former_path_reads_the_note(chosen: Invoke, folder: Path, text: str) -> None:
    """It says where the note is now; a command that changes the note wants its path."""
    (folder / "harbour.md").rename(folder / "old/pier.md")
    chosen("update")
    (folder / "old/pier.md").write_text(text, "utf-8")
    chosen("update")

    read, several = chosen("get", "harbour.md"), chosen("get", "desk/harbour.md", "desk/old/pier.md")
    refused = chosen("pin", "--off", "desk/harbour.md")

    assert (read.exit_code, read.stdout.rstrip()) == (0, text.rstrip())
    assert read.stderr == "clawmem: desk/old/pier.md is the new path of desk/harbour.md.\n"
    assert several.stdout.count("desk/old/pier.md") == 1
    assert json.loads(chosen("get", "harbour.md", "--json").stdout)["moved_from"] == "desk/harbour.md"
    assert refused.exit_code == 3
    assert "Name the note by its new path" in refused.stderr and "desk/old/pier.md" in refused.stderr
