from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

NOTES = Path(__file__).parents[2] / "examples" / "notes"


def sentences() -> list[str]:
    """The prose of the example notes, line by line: real words in real proportions."""
    lines = [line for path in sorted(NOTES.rglob("*.md")) for line in path.read_text("utf-8").splitlines()]
    return [line for line in lines if len(line) > 40 and line[0] not in "#-|`>"]


@pytest.fixture
def write_notes(tmp_path: Path) -> Callable[[int], Path]:
    """Write that many small notes into a folder; the same ones every time."""

    def write(count: int) -> Path:
        rng, prose, root = random.Random(1), sentences(), tmp_path / "notes"
        for i in range(count):
            path = root / f"{i % 100:02d}" / f"note-{i:05d}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            head = (
                f"---\ntitle: Note {i}\ndate: 2026-{i % 12 + 1:02d}-{i % 28 + 1:02d}\n---\n\n# Note {i}\n\n"
            )
            path.write_text(head + "\n\n".join(rng.sample(prose, 4)) + "\n", "utf-8")
        return root

    return write
