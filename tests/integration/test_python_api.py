"""The Python API and the references, which are made from the table of operations."""

from __future__ import annotations

from pathlib import Path

import pytest
import reference
from command_line import Invoke

from clawmem import Memory
from clawmem.app.operations.table import TOOLS, all_operations
from clawmem.ports.errors import InvalidInput, NotFound, VaultError, VaultReadOnly


def test_the_reference_describes_every_operation() -> None:
    """``make reference`` writes a page for each interface, which names what the interface has of every operation."""
    pages = {path.stem: text for path, text in reference.references().items()}
    for operation in all_operations():
        commands = [f"## clawmem {command.words}" for command in operation.commands]
        assert [heading for heading in commands if heading not in pages["cli"]] == []
        assert operation.name not in TOOLS or f"### {operation.name}\n" in pages["mcp"]
        assert operation.route.replace(":path", "") in pages["rest"]


def test_a_method_runs_an_operation(remembered: Invoke) -> None:
    """The result is the one of the operation, and the act is recorded for Python."""
    with Memory.open() as memory:
        pinned = memory.pin("decisions/2026-02-11-redis.md", why="asked every week")
        [act] = memory.lifecycle_undo(limit=1)

    assert (pinned.file, pinned.pinned) == ("notes/decisions/2026-02-11-redis.md", True)
    assert (act.act, act.by, act.why) == ("pin", "python", "asked every week")


def test_errors_are_typed(remembered: Invoke, home: Path) -> None:
    """An address that names nothing, a bad parameter, a vault that is not there, and one that may only be read."""
    with Memory.open(read_only=True) as memory:
        with pytest.raises(NotFound):
            memory.pin("nothing like this")
        with pytest.raises(InvalidInput, match="limit"):
            memory.lifecycle_undo(limit=0)
        with pytest.raises(VaultReadOnly):
            memory.pin("Haruka Mori")
    with pytest.raises(VaultError, match="no vault"):
        Memory.open(home / "missing.sqlite")
