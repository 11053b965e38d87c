"""Sessions in a database like that of OpenClaw 2026.9.6."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

STATE = ".openclaw"


def record(home: Path, session: str, said: list[str], *, agent: str = "main", owner: str = "") -> None:
    """Write a session as OpenClaw 2026.9.6 does; the user and the assistant take turns."""
    folder = home / STATE / "agents" / agent / "agent"
    folder.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(folder / "openclaw-agent.sqlite")) as db, db:
        db.executescript(
            """
            create table if not exists schema_meta (meta_key, agent_id);
            create table if not exists session_windows (session_id primary key, updated_at, transcript_updated_at);
            create table if not exists transcript_events (session_id, seq, event_json, event_zstd, event_utf8_bytes);
            create virtual table if not exists session_transcript_fts using fts5(
              text, session_id unindexed, message_id unindexed, role unindexed, timestamp unindexed);
            delete from schema_meta;
            """
        )
        db.execute("insert into schema_meta values ('primary', ?)", (owner or agent,))
        db.execute("insert or replace into session_windows values (?, 0, 1700000000000)", (session,))
        for table in ("transcript_events", "session_transcript_fts"):
            db.execute(f"delete from {table} where session_id = ?", (session,))
        for seq, text in enumerate(said):
            role = "assistant" if seq % 2 else "user"
            event = json.dumps({"type": "message", "message": {"role": role, "content": text}})
            db.execute("insert into transcript_events values (?, ?, ?, null, null)", (session, seq, event))
            values = (text, session, str(seq), role, str(1_700_000_000_000.0 + seq))
            db.execute("insert into session_transcript_fts values (?, ?, ?, ?, ?)", values)
