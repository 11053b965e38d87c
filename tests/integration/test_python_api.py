"""The Python API and the references, which are made from the table of operations."""

from __future__ import annotations

from pathlib import Path

import pytest
import reference
from command_line import Invoke

from clawmem import Memory
from clawmem.ports.errors import InvalidInput, NotFound, VaultError, VaultReadOnly


@pytest.mark.parametrize("path", sorted(reference.references()), ids=lambda path: str(path.name))
def test_generated_files_are_current(path: Path) -> None:
    """A file made from the table of operations is as it would be made now; if not, run ``make reference``."""
    assert path.read_text("utf-8") == reference.references()[path]


def test_a_method_runs_an_operation(remembered: Invoke) -> None:
    """The result is the one of the operation, and the act is recorded for Python."""
    with Memory.open() as memory:
        pinned = memory.pin("decisions/2026-02-11-redis.md", why="asked every week")
        [act] = memory.lifecycle_log(limit=1).acts

    assert (pinned.file, pinned.action, pinned.changed) == (
        "notes/decisions/2026-02-11-redis.md",
        "pinned",
        True,
    )
    assert (act.act, act.by, act.why) == ("pin", "python", "asked every week")


def test_errors_are_typed(remembered: Invoke, home: Path) -> None:
    """An address that names nothing, a bad parameter, a vault that is not there, and one that may only be read."""
    with Memory.open(read_only=True) as memory:
        with pytest.raises(NotFound):
            memory.pin("nothing like this")
        with pytest.raises(InvalidInput, match="limit"):
            memory.lifecycle_log(limit=0)
        with pytest.raises(VaultReadOnly):
            memory.pin("Haruka Mori")
    with pytest.raises(VaultError, match="no vault"):
        Memory.open(home / "missing.sqlite")
