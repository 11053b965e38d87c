"""A later export adds what is new, and deletes nothing."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from chat_exports import FORMATS, claude_code, write_zip
from command_line import Invoke, write_notes
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


def test_watching_imports_sessions_that_grow(
    invoke: Invoke, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With --every a session is imported again when it has grown; what removes is refused."""
    sessions = home / ".claude/projects/-home-me-ferry"
    write_notes(sessions, {f"{BREAD.id}.jsonl": claude_code(BREAD)})

    class Stop(threading.Event):
        """A stop signal that is set at the third wait; at the first one another session begins."""

        waits = 0

        def wait(self, timeout: float | None = None) -> bool:
            self.waits += 1
            if self.waits == 1:
                write_notes(sessions, {f"{BOAT.id}.jsonl": claude_code(BOAT)})
            if self.waits == 3:
                self.set()
            return self.is_set()

    monkeypatch.setattr("clawmem.app.interfaces.cli.operations.stop_event", Stop)
    done = invoke("mine", "--every", "1", "--no-embed")
    assert done.stdout.count("added 1") == 2, done.output
    assert len(documents(invoke)) == 2
    assert invoke("mine", "--every", "1", "--forget", "claude-code").exit_code == 2
