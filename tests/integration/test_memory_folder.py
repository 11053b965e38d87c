"""The commands of memory_20250818, word for word, and no way out of the folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from clawmem.adapters.files.memory_folder import MOST_SHOWN, MemoryFolder
from clawmem.ports.errors import InvalidInput


@pytest.fixture
def folder(tmp_path: Path) -> MemoryFolder:
    (tmp_path / "in" / "deep" / "deeper").mkdir(parents=True)
    (tmp_path / "in" / "a.md").write_text("one\ntwo\nthree\n", "utf-8")
    (tmp_path / "in" / "deep" / "deeper" / "b.md").write_text("", "utf-8")
    (tmp_path / "in" / ".hidden").write_text("x", "utf-8")
    (tmp_path / "outside.md").write_text("secret", "utf-8")
    return MemoryFolder(str(tmp_path / "in"))


def test_view_of_a_folder(folder: MemoryFolder) -> None:
    head, *lines = folder.view("/memories").splitlines()

    assert head == (
        "Here're the files and directories up to 2 levels deep in /memories, "
        "excluding hidden items and node_modules:"
    )
    assert [line.split("\t")[1] for line in lines] == [
        "/memories",
        "/memories/a.md",
        "/memories/deep/",
        "/memories/deep/deeper/",
    ]
    assert lines[1] == "14B\t/memories/a.md"


def test_view_of_a_file(folder: MemoryFolder) -> None:
    assert folder.view("/memories/a.md", [2, -1]) == (
        "Here's the content of /memories/a.md with line numbers:\n     2\ttwo\n     3\tthree\n     4\t"
    )
    folder.create("/memories/long.md", "x" * 99 + "\n")
    folder.insert("/memories/long.md", 1, ("y" * 99 + "\n") * 400)
    assert len(folder.view("/memories/long.md")) == MOST_SHOWN


def test_create(folder: MemoryFolder, tmp_path: Path) -> None:
    assert folder.create("/memories/new/c.md", "text") == "File created successfully at: /memories/new/c.md"
    assert (tmp_path / "in" / "new" / "c.md").read_text("utf-8") == "text"
    _refused("Error: File /memories/a.md already exists", folder.create, "/memories/a.md", "x")


def test_str_replace(folder: MemoryFolder, tmp_path: Path) -> None:
    said = folder.str_replace("/memories/a.md", "two", "zwei")

    assert said == "The memory file has been edited.\n     1\tone\n     2\tzwei\n     3\tthree\n     4\t"
    assert (tmp_path / "in" / "a.md").read_text("utf-8") == "one\nzwei\nthree\n"
    _refused(
        "No replacement was performed, old_str `four` did not appear verbatim in /memories/a.md.",
        folder.str_replace, "/memories/a.md", "four", "x",
    )  # fmt: skip
    _refused(
        "No replacement was performed. Multiple occurrences of old_str `e` in lines: 1, 2, 3, 3. "
        "Please ensure it is unique",
        folder.str_replace, "/memories/a.md", "e", "x",
    )  # fmt: skip


@pytest.mark.parametrize(
    "path",
    [
        "/memories/../outside.md",
        "/memories/deep/../../outside.md",
        "/memories/%2e%2e/outside.md",
        "/memories/%252e%252e/outside.md",
        "/memories/..%2foutside.md",
        "/memories\\..\\outside.md",
        "/memoriesx/a.md",
        "/etc/passwd",
        "outside.md",
        "",
        "/memories/a\0.md",
        "/memories/link/outside.md",
        "/memories/link",
    ],
)
def test_no_way_out(folder: MemoryFolder, tmp_path: Path, path: str) -> None:
    (tmp_path / "in" / "link").symlink_to(tmp_path)
    for attempt in (
        lambda: folder.view(path),
        lambda: folder.create(path, "x"),
        lambda: folder.str_replace(path, "secret", "x"),
        lambda: folder.insert(path, 0, "x"),
        lambda: folder.delete(path),
        lambda: folder.rename("/memories/a.md", path),
        lambda: folder.rename(path, "/memories/stolen.md"),
    ):
        with pytest.raises(InvalidInput):
            attempt()
    assert (tmp_path / "outside.md").read_text("utf-8") == "secret"
    assert "secret" not in folder.view("/memories")


def _refused(message: str, command: object, *arguments: object) -> None:
    with pytest.raises(InvalidInput) as refused:
        command(*arguments)  # type: ignore[operator]
    assert str(refused.value) == message
