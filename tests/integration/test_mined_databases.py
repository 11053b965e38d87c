"""Sessions that agents keep in SQLite databases become documents, also while the agent has them open."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

import pytest
from chat_exports import Talk, talk
from chat_exports import openclaw as openclaw_lines
from command_line import Invoke, ask_json
from mined_talks import mined

FERRY = talk(
    "ferry-talk",
    "Mooring the ferry",
    "2025-04-02",
    "Where should we moor the ferry on Monday?",
    "At the north pier, because the tide is low.",
    "Which flag does it fly there?",
    "The yellow one, as on every Monday.",
)
MORE = FERRY._replace(
    turns=[*FERRY.turns, *(turn._replace(at=turn.at + 60, text=f"Again: {turn.text}") for turn in FERRY.turns[:2])]
)  # fmt: skip


def openclaw(database: sqlite3.Connection, one: Talk) -> None:
    database.execute(
        "create table if not exists transcript_events (session_id text, seq integer, event_json text, created_at integer,"
        " event_zstd blob, primary key (session_id, seq))"
    )
    events = enumerate(openclaw_lines(one).splitlines())
    rows = [(one.id, number, event, 0, None) for number, event in events]
    database.executemany("insert or replace into transcript_events values (?, ?, ?, ?, ?)", rows)


def opencode(database: sqlite3.Connection, one: Talk) -> None:
    """Write a session as OpenCode does."""
    database.executescript(
        "create table if not exists session (id text primary key, parent_id text, title text, directory text,"
        " time_created integer);"
        "create table if not exists message (id text primary key, session_id text, time_created integer, data text);"
        "create table if not exists part (id text primary key, message_id text, session_id text, data text)"
    )
    session = (one.id, None, one.title, "/home/me/ferry", one.turns[0].at * 1000)
    database.execute("insert or replace into session values (?, ?, ?, ?, ?)", session)
    for number, turn in enumerate(one.turns):
        name, at = f"msg_{one.id}_{len(one.turns) - number}", turn.at * 1000  # ids do not sort by time
        data = {"role": ("user", "assistant")[number % 2], "time": {"created": at}}
        text = turn.text if number % 2 else f'"{turn.text}"'  # as `opencode run` quotes it
        parts = [{"type": "tool", "state": {"output": "a tool said"}}, {"type": "text", "text": text}]
        database.execute("delete from part where message_id = ?", (name,))
        database.execute(
            "insert or replace into message values (?, ?, ?, ?)", (name, one.id, at, json.dumps(data))
        )
        for place, part in enumerate(parts):
            row = (f"prt_{name}_{place}", name, one.id, json.dumps(part))
            database.execute("insert into part values (?, ?, ?, ?)", row)


def hermes(database: sqlite3.Connection, one: Talk) -> None:
    database.executescript(
        "create table if not exists sessions (id text primary key, title text, cwd text, model_config text,"
        " started_at real);"
        "create table if not exists messages (id integer primary key, session_id text, role text, content text,"
        " timestamp real, active integer default 1, compacted integer default 0)"
    )
    session = (one.id, one.title, "/home/me/ferry", None, one.turns[0].at)
    database.execute("insert or replace into sessions values (?, ?, ?, ?, ?)", session)
    database.execute("delete from messages where session_id = ?", (one.id,))
    for number, turn in enumerate(one.turns):
        hermes_message(database, one.id, ("user", "assistant")[number % 2], turn.text, turn.at)
        hermes_message(database, one.id, "tool", "a tool said", turn.at)


def hermes_message(database: sqlite3.Connection, session: str, *row: object) -> None:
    """Write a message of Hermes: role, content, time."""
    columns = "session_id, role, content, timestamp, active, compacted"
    database.execute(f"insert into messages ({columns}) values (?, ?, ?, ?, 1, 0)", (session, *row))


WRITERS: Mapping[str, tuple[str, Callable[[sqlite3.Connection, Talk], None]]] = {
    "openclaw": (".openclaw/agents/main/agent/openclaw-agent.sqlite", openclaw),
    "opencode": (".local/share/opencode/opencode.db", opencode),
    "hermes": (".hermes/state.db", hermes),
}


def text_of(invoke: Invoke) -> str:
    [one] = ask_json(invoke, "list")["documents"]
    return str(ask_json(invoke, "get", one["file"])["text"])


@pytest.mark.parametrize("source", WRITERS)
def test_a_database_grows_while_the_agent_has_it_open(
    invoke: Invoke, home: Path, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    """It is imported from its place, skipped while it is unchanged, and read again when only its log has grown."""
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    place, write = WRITERS[source]
    (home / place).parent.mkdir(parents=True)
    with closing(sqlite3.connect(home / place)) as agent:
        agent.execute("pragma journal_mode = wal")
        with agent:
            write(agent, FERRY)

        report = mined(invoke)
        counts = report["sources"][source]
        assert (counts["messages"], counts["added"], report["faults"]) == (4, 1, [])
        [found, *_] = ask_json(invoke, "search", "flag", "--where", f"source={source}")["results"]
        assert found["authored_at"][:10] == "2025-04-02"
        assert '"' not in ask_json(invoke, "get", found["file"])["text"]
        said = text_of(invoke)
        assert [said.index(turn.text) for turn in FERRY.turns] == sorted(
            map(said.index, (t.text for t in FERRY.turns))
        )
        assert "a tool said" not in said
        assert (mined(invoke)["sources"], mined(invoke)["skipped"]) == ({}, 1)

        before = (home / place).stat()
        with agent:
            write(agent, MORE)
        assert (home / place).stat() == before
        assert mined(invoke)["sources"][source]["updated"] == 1
    assert "Again: At the north pier" in text_of(invoke)
