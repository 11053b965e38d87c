"""A copy or a clone of the notes changes nothing that is said about when they were written."""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from command_line import Invoke, write_file
from command_process import run_process
from hook_process import ask_inside
from process_environ import process_environ

EXAMPLES = Path(__file__).parents[2] / "examples" / "notes"
LONG_AGO = 1_262_304_000  # 2010
UNDATED = ("handoffs/on-call-rota.md", "people/haruka-mori.md")  # the file's time is all that is known
FOCUS = "notes/decisions/2026-06-09-postgres-sessions.md"
FILE_TIMES = frozenset({"modified", "modified_at", "modifiedAt"})

Ask = Callable[["CopiedNotes"], Any]
ASKED: dict[str, Ask] = {
    "hook session-bootstrap": lambda one: one.hook("session-bootstrap", "SessionStart", source="startup"),
    "hook staleness-check": lambda one: one.hook("staleness-check", "SessionStart", source="startup"),
    "hook postcompact-inject": lambda one: one.hook(
        "postcompact-inject", "SessionStart", source="compact", compact_summary="login sessions in Postgres"
    ),
    "hook context-surfacing": lambda one: one.hook(
        "context-surfacing", "UserPromptSubmit", prompt="Where do login sessions live now?"
    ),
    "hook pretool-inject": lambda one: one.hook(
        "pretool-inject", "PreToolUse", tool_name="Edit", tool_input={"file_path": "/src/billing/retry.py"}
    ),
    "list": lambda one: one.json("list", "--limit", 40),
    "timeline": lambda one: one.json("timeline", FOCUS, "--same-collection"),
    "reflect": lambda one: one.json("reflect", 3000),
    "status": lambda one: one.json("status")["newest"],
    "collection list": lambda one: one.json("collection", "list")["collections"],
    "search": lambda one: one.cli("search", "sessions"),
    "get": lambda one: one.json("get", FOCUS),
}


class CopiedNotes(NamedTuple):
    """The home of a vault over the notes in its folder ``notes``."""

    home: Path
    environ: dict[str, str]

    def cli(self, *arguments: object) -> str:
        done = run_process(*arguments, environ=self.environ, cwd=self.home, check=True)
        return str(done.stdout)

    def json(self, *arguments: object) -> Any:
        return json.loads(self.cli(*arguments, "--json"))

    def hook(self, name: str, event: str, **fields: Any) -> str:
        told = {"session_id": "s1", "hook_event_name": event, "cwd": str(self.home), **fields}
        return ask_inside(self.environ, name, told).context


def without_file_times(said: Any) -> Any:
    """Leave out the fields whose value is the file's time by definition, and what differs by the vault."""
    if isinstance(said, dict):
        return {
            name: without_file_times(one) for name, one in said.items() if name not in FILE_TIMES | {"path"}
        }
    if isinstance(said, list | tuple):
        return [without_file_times(one) for one in said]
    return re.sub(r"receipt: \d+.*", "", said) if isinstance(said, str) else said


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> list[CopiedNotes]:
    """The example notes twice: with file times of long ago, and as a clone of this minute."""
    copies = []
    for name, moment in (("original", LONG_AGO), ("clone", int(time.time()))):
        home = tmp_path_factory.mktemp(name)
        shutil.copytree(EXAMPLES, home / "notes")
        for file in (home / "notes").rglob("*.md"):
            os.utime(file, (moment, moment))
        for undated in UNDATED:
            os.utime(home / "notes" / undated, (LONG_AGO, LONG_AGO))
        copies.append(CopiedNotes(home, process_environ(home)))
        copies[-1].cli("bootstrap", home / "notes")
    return copies


@pytest.mark.parametrize("question", ASKED)
def test_a_clone_says_the_same(copies: list[CopiedNotes], question: str) -> None:
    """Every answer that speaks of time is the same, whatever the times of the files."""
    original, clone = (without_file_times(ASKED[question](copied)) for copied in copies)

    assert original
    assert clone == original


def test_a_touched_note_keeps_its_time(invoke: Invoke, notes: Path) -> None:
    """A note without a date of its own stays as old as it was when its file is touched, copied or indexed again."""
    note = write_file(notes / "rota.md", "# Rota\n\nLin swaps nights with Tomasz.\n")
    os.utime(note, (LONG_AGO, LONG_AGO))
    invoke("bootstrap", notes)

    os.utime(note)
    for again in ("update", "update --all"):
        invoke(again)
        assert "2010-01-01" in invoke("list").stdout
    note.write_text("---\ntags: [rota]\n---\n# Rota\n\nLin swaps nights with Tomasz.\n", "utf-8")
    invoke("update")
    assert "2010-01-01" in invoke("list").stdout
    note.write_text("# Rota\n\nLin swaps nights with Priya.\n", "utf-8")
    invoke("update")
    assert "2010-01-01" not in invoke("list").stdout
