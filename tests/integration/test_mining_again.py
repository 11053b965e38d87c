"""A later export adds what is new, and deletes nothing."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from chat_exports import FORMATS, claude_code, write_zip
from command_line import Invoke, ask_json, write_notes
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


def test_an_edited_conversation_updates_its_documents(invoke: Invoke, tmp_path: Path) -> None:
    """A changed exchange is replaced in place, an exchange that is gone is no longer found, a longer one grows."""
    more = [turn._replace(text=f"{turn.text} {'Sand it well. ' * 180}") for turn in BOAT.turns]
    long = BOAT._replace(turns=more)
    mined(invoke, write_export(tmp_path / "export", "chatgpt", long))
    assert documents(invoke).keys() == {"Painting the boat", "Painting the boat (2)"}
    known = {one["file"]: one["docid"] for one in documents(invoke).values()}
    edited = BOAT._replace(
        turns=[BOAT.turns[0], BOAT.turns[1]._replace(text="Use tung oil instead, it is easier to repair.")],
        updated=BOAT.turns[-1].at + 60,
    )

    report = mined(invoke, write_export(tmp_path / "export", "chatgpt", edited))

    assert changes(report, "chatgpt") == (0, 1, 1, 0)
    [left] = documents(invoke).values()
    assert left["file"] in known
    assert "tung oil" in text_of(invoke, left["file"])
    assert not ask_json(invoke, "search", "sand after twelve hours")["results"]
    again = mined(
        invoke, write_export(tmp_path / "export", "chatgpt", long._replace(updated=BOAT.turns[-1].at + 120))
    )
    assert changes(again, "chatgpt") == (1, 1, 0, 0)


def test_a_conversation_keeps_the_name_of_its_first_import(invoke: Invoke, tmp_path: Path) -> None:
    """Without --source, what was imported under another name is neither imported twice nor divided when it grows."""
    file = write_export(tmp_path, "chatgpt", BOAT)
    mined(invoke, file, "--source", "work")

    assert changes(mined(invoke, file), "work") == (0, 0, 0, 1)
    grown = mined(invoke, write_export(tmp_path, "chatgpt", GROWN, BREAD))
    assert (changes(grown, "work"), changes(grown, "chatgpt")) == ((0, 1, 0, 0), (1, 0, 0, 0))
    ask_json(invoke, "mine", "--forget", "work", "--yes")
    again = mined(invoke, write_export(tmp_path, "chatgpt", GROWN))
    assert (changes(again, "chatgpt")[0], again["sources"]["chatgpt"]["forgotten"]) == (0, 1)
    other = BREAD._replace(id=BOAT.id)  # another conversation that has the same id
    mined(invoke, write_export(tmp_path / "b", "chatgpt", BOAT), "-c", "b", "--source", "work")
    separate = mined(invoke, write_export(tmp_path / "c", "claude.ai", other), "-c", "b")
    assert list(separate["sources"]) == ["claude.ai"]


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


def test_older_and_partial_slack_exports_change_nothing(invoke: Invoke, tmp_path: Path) -> None:
    """An export from before an edit does not undo it, and replies without their thread delete no earlier ones."""
    parent = {"type": "message", "user": "U1", "text": "Who repairs the old crane at the pier?", "ts": "1700000000.0001",
              "thread_ts": "1700000000.0001"}  # fmt: skip
    reply = {**parent, "text": "The smith repairs it, on Tuesday morning.", "ts": "1700090000.0002"}
    edited = {
        **parent,
        "text": "Who repairs the new crane at the pier?",
        "edited": {"user": "U1", "ts": "1700095000.0"},
    }
    days = ("pier/2023-11-14.json", "pier/2023-11-15.json")
    mined(
        invoke,
        write_zip(
            tmp_path / "a.zip", dict(zip(days, (json.dumps([edited]), json.dumps([reply])), strict=True))
        ),
    )

    mined(
        invoke,
        write_zip(
            tmp_path / "b.zip", dict(zip(days, (json.dumps([parent]), json.dumps([reply])), strict=True))
        ),
    )
    mined(invoke, write_zip(tmp_path / "c.zip", {days[1]: json.dumps([{**reply, "ts": "1700099000.0003"}])}))

    texts = [text_of(invoke, one["file"]) for one in documents(invoke).values()]
    assert any("the new crane" in text for text in texts)
    assert any("The smith" in text for text in texts)
    assert not any("the old crane" in text for text in texts)


def test_watching_imports_sessions_that_grow(
    invoke: Invoke, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With --watch a session is imported again when it has grown; what runs once or removes is refused."""
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

    monkeypatch.setattr("clawmem.app.interfaces.cli.mining.stop_event", Stop)
    done = invoke("mine", "--watch", "--no-embed")
    assert done.stdout.count("1 document added") == 2, done.output
    assert len(documents(invoke)) == 2
    for option in ("--dry-run", "--forget=claude-code"):
        assert "--watch" in invoke("mine", "--watch", option).stderr
