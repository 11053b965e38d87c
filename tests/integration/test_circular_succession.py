"""Notes that supersede each other: none of them goes before another."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import Invoke

HONEY = {
    "ann.md": "# Ann\n\nThe honey price honey price is nine crowns a jar.\n",
    "bea.md": "# Bea\n\nThe honey price is eleven crowns, as long as there are jars and somebody fills them.\n",
    "cleo.md": "# Cleo\n\nFor a year nobody has asked for honey, and its price is what the market hall pays us.\n",
}


def write(folder: Path, heads: dict[str, str]) -> None:
    folder.mkdir(exist_ok=True)
    for age, (path, text) in enumerate(HONEY.items()):
        head = f"date: 2026-03-{9 - age:02}\n{heads.get(path, '')}"
        (folder / path).write_text(f"---\n{head}\n---\n{text}", "utf-8")


def ranked(invoke: Invoke, *words: str) -> list[tuple[str, Any]]:
    found = json.loads(invoke(*words, "--all", "--json").stdout)["results"]
    return [(one["file"], one["superseded_by"]) for one in found]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "notes"


@pytest.mark.parametrize("way", [("search",), ("query",), ("query", "--unit", "line")], ids=" ".join)
@pytest.mark.parametrize("question", ["honey price", "latest honey price"])
def test_notes_of_a_circle_rank_as_if_none_superseded_another(
    invoke: Invoke, folder: Path, way: tuple[str, ...], question: str
) -> None:
    """The same order and no mark, also where the newest note is asked for."""
    write(folder, {})
    invoke("bootstrap", folder)
    without = ranked(invoke, *way, question)
    write(folder, {"ann.md": "supersedes: bea.md", "bea.md": "supersedes: ann.md"})
    invoke("update", "--embed")

    found = ranked(invoke, *way, question)

    assert found == without
    assert {file for file, _ in found} == {f"notes/{path}" for path in HONEY}
    assert {mark for _, mark in found} == {None}
