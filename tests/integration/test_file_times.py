"""A copy or a clone of the notes changes nothing that is said about when they were written."""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from command_line import write_file
from interface_world import InterfaceWorld, interface_world

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")

EXAMPLES = Path(__file__).parents[2] / "examples" / "notes"
LONG_AGO = 1_262_304_000  # 2010
UNDATED = ("handoffs/on-call-rota.md", "people/haruka-mori.md")  # the file's time is all that is known
FOCUS = "notes/decisions/2026-06-09-postgres-sessions.md"
FILE_TIMES = frozenset({"modified", "modified_at", "modifiedAt"})

Ask = Callable[[InterfaceWorld], Any]
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
    "list": lambda one: one.cli("list", "--limit", 40),
    "list --json": lambda one: one.json("list", "--limit", 40),
    "timeline": lambda one: one.cli("timeline", FOCUS),
    "timeline --json": lambda one: one.json("timeline", FOCUS, "--same-collection"),
    "reflect": lambda one: one.json("reflect", 3000),
    "status": lambda one: one.json("status")["newest"],
    "collection list": lambda one: one.json("collection", "list")["collections"],
    "search": lambda one: one.cli("search", "sessions"),
    "get": lambda one: one.json("get", FOCUS),
    "mcp list": lambda one: one.mcp("list", limit=40),
    "mcp timeline": lambda one: one.mcp("timeline", docid=FOCUS),
    "mcp search": lambda one: one.mcp("search", query="sessions"),
    "mcp get": lambda one: one.mcp("get", file=FOCUS),
    "rest list": lambda one: one.rest("GET", "/list", limit=40),
    "rest timeline": lambda one: one.rest("GET", f"/timeline/{FOCUS}"),
    "rest get": lambda one: one.rest("GET", f"/documents/{FOCUS}"),
}


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
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[InterfaceWorld, InterfaceWorld]]:
    """The example notes twice: with file times of long ago, and as a clone of this minute."""
    with ExitStack() as stack:
        made = []
        for name, moment in (("original", LONG_AGO), ("clone", int(time.time()))):
            home = tmp_path_factory.mktemp(name)
            shutil.copytree(EXAMPLES, home / "notes")
            for file in (home / "notes").rglob("*.md"):
                os.utime(file, (moment, moment))
            for undated in UNDATED:
                os.utime(home / "notes" / undated, (LONG_AGO, LONG_AGO))
            made.append(stack.enter_context(interface_world(home)))
        yield made[0], made[1]


@pytest.mark.parametrize("question", ASKED)
def test_a_clone_says_the_same(worlds: tuple[InterfaceWorld, InterfaceWorld], question: str) -> None:
    """Every answer that speaks of time is the same, whatever the times of the files."""
    original, clone = (without_file_times(ASKED[question](world)) for world in worlds)

    assert original
    assert clone == original


def test_a_touched_note_keeps_its_time(tmp_path: Path) -> None:
    """A note without a date of its own stays as old as it was when its file is touched, copied or indexed again."""
    note = tmp_path / "notes" / "rota.md"
    write_file(note, "# Rota\n\nLin swaps nights with Tomasz.\n")
    os.utime(note, (LONG_AGO, LONG_AGO))
    with interface_world(tmp_path) as world:
        os.utime(note)
        for again in (("update",), ("update", "--all")):
            world.cli(*again)
            assert "2010-01-01" in world.cli("list")
        note.write_text("---\ntags: [rota]\n---\n# Rota\n\nLin swaps nights with Tomasz.\n", "utf-8")
        world.cli("update")
        assert "2010-01-01" in world.cli("list")
        note.write_text("# Rota\n\nLin swaps nights with Priya.\n", "utf-8")
        world.cli("update")
        assert "2010-01-01" not in world.cli("list")
