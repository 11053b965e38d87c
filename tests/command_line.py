"""The command line inside of a test, as the fixture ``invoke`` offers it, and the notes that it reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from typer.testing import Result

Invoke = Callable[..., Result]


def write_notes(folder: Path, notes: Mapping[str, str]) -> None:
    """Write *notes*, texts by path, below *folder*."""
    for path, text in notes.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")
