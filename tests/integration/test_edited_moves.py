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
