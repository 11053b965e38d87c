"""A later export adds what is new, and deletes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from chat_exports import FORMATS, write_zip
from command_line import Invoke
from mined_talks import BOAT, BREAD, GROWN, changes, documents, mined, text_of, write_export


@pytest.mark.parametrize("source", sorted(FORMATS.keys() - {"slack"}))
def test_a_second_export_adds_only_what_is_new(invoke: Invoke, tmp_path: Path, source: str) -> None:
    """Unchanged files are skipped, a later export adds its exchanges, and the earlier documents keep their ids."""
    first = write_export(tmp_path / "export", source, BOAT)
    before = mined(invoke, first)["sources"][source]["added"]
    known = {title: one["docid"] for title, one in documents(invoke).items()}

    again = mined(invoke, first)
    later = mined(invoke, write_export(tmp_path / "export", source, BOAT, BREAD))

    assert (again["sources"], again["files"]) == ({}, 0)
    assert again["skipped"] == len(FORMATS[source]([BOAT]))
    assert later["sources"][source]["added"] == 1
    assert later["sources"][source]["updated"] == 0
    after = {title: one["docid"] for title, one in documents(invoke).items()}
    assert len(after) == before + 1
    assert known.items() <= after.items()


@pytest.mark.parametrize("source", ["chatgpt", "claude.ai", "slack", "claude-code", "codex"])
def test_an_older_copy_deletes_nothing(invoke: Invoke, tmp_path: Path, source: str) -> None:
    """An export that lacks the newest messages changes no document, in the same import and in a later one."""
    for name, one in (("a-new", GROWN), ("b-old", BOAT)):
        write_zip(tmp_path / f"exports/{name}.zip", FORMATS[source]([one]))
    mined(invoke, tmp_path / "exports")
    found = documents(invoke)

    write_zip(tmp_path / "older.zip", FORMATS[source]([BOAT]))
    assert changes(mined(invoke, tmp_path / "older.zip"), source)[:3] == (0, 0, 0)
    assert documents(invoke) == found
    assert any("forms a skin" in text_of(invoke, one["file"]) for one in found.values())


def test_a_file_without_a_conversation_fails_again(invoke: Invoke, tmp_path: Path) -> None:
    """A repetition is no success, unless something else was read before."""
    file = tmp_path / "shopping.txt"
    file.write_text("Bread and milk.\n", "utf-8")

    for _ in range(2):
        done = invoke("mine", file)
        assert (done.exit_code, "Files without a conversation: 1" in done.stdout) == (1, True)
