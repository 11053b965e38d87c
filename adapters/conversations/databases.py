"""Databases of agents that keep their sessions in SQLite: OpenClaw, OpenCode and Hermes."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import closing, suppress
from urllib.parse import quote

import apsw

from clawmem.adapters.conversations.members import Member, NotAConversation, Record, Unreadable, parsed
from clawmem.adapters.conversations.sessions import (
    openclaw_session,
    opencode_session,
    project_labels,
    text_of_parts,
)
from clawmem.ports.imports import ImportedConversation, ImportedMessage, ReadFault
from clawmem.ports.sessions import Speaker

BUSY_MS = 2_000  # an agent writes for milliseconds
Conversations = Iterator[ImportedConversation | ReadFault]


def read(member: Member) -> Conversations:
    """Yield the sessions in the database of an agent, also while the agent has it open."""
    address = f"file:{quote(os.fsencode(member.place))}?mode=ro"
    try:
        with closing(apsw.Connection(address, apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)) as database:
            database.set_busy_timeout(BUSY_MS)
            names = {name for (name,) in database.execute("select name from sqlite_schema")}
            for tables, reader in _READERS.items():
                if names.issuperset(tables):
                    yield from reader(database, member)
                    return
        raise NotAConversation("it is the database of a program that is not known")
    except (apsw.Error, UnicodeError) as error:
        raise Unreadable(f"its database cannot be read ({error})") from error


def _openclaw(database: apsw.Connection, member: Member) -> Conversations:
    """Yield the sessions; events that the agent has compressed count as unreadable lines."""
    query = (
        "select coalesce(event_json, 'compressed') from transcript_events where session_id = ? order by seq"
    )
    for (name,) in database.execute("select distinct session_id from transcript_events order by 1"):
        events = database.execute(query, (name,))
        yield from openclaw_session(name, (f"{event}\n".encode() for (event,) in events), member)


def _opencode(database: apsw.Connection, member: Member) -> Conversations:
    """Yield the sessions, without those of subagents."""
    sessions = "select id, title, directory, time_created from session where parent_id is null order by id"
    for name, title, directory, created in database.execute(sessions):
        parts: dict[str, list[Record]] = {}
        of_session = "select message_id, data from part where session_id = ? order by id"
        for message, data in database.execute(of_session, (name,)):
            parts.setdefault(message, []).append(parsed(data))
        query = "select id, data from message where session_id = ? order by time_created, id"
        messages = (
            (Record({**parsed(data), "id": key}), parts.get(key, []))
            for key, data in database.execute(query, (name,))
        )
        info = {"id": name, "title": title, "directory": directory, "time": {"created": created}}
        yield opencode_session(Record(info), messages)


_STRUCTURED = "\0json:"  # before content that is a list of parts
_SUMMARIES = ("[CONTEXT COMPACTION", "[CONTEXT SUMMARY]")  # of earlier messages, which are stored as well
_SUBAGENT = '%"_delegate_from"%'


def _hermes(database: apsw.Connection, member: Member) -> Conversations:
    """
    Yield the sessions, without those of subagents.

    A compaction copies the last messages behind a summary; neither is a message. Messages that the user took back are
    left out.
    """
    sessions = "select id, title, cwd, started_at from sessions where coalesce(model_config, '') not like ? order by id"
    query = (
        "select id, role, content, timestamp, active, compacted from messages "
        "where session_id = ? and role in ('user', 'assistant') order by id"
    )
    for name, heading, directory, started in database.execute(sessions, (_SUBAGENT,)):
        rows = list(database.execute(query, (name,)))
        compacted = {(role, content) for _, role, content, _, _, is_compacted in rows if is_compacted}
        messages = [
            ImportedMessage(str(key), text, at, Speaker(role))
            for key, role, content, at, is_active, is_compacted in rows
            if is_compacted or (is_active and (role, content) not in compacted)
            if (text := _hermes_text(content)) and not text.startswith(_SUMMARIES)
        ]
        project = project_labels(str(directory or ""))
        yield ImportedConversation("hermes", name, str(heading or ""), messages, started, project)


def _hermes_text(content: object) -> str:
    text = content if isinstance(content, str) else ""
    if not text.startswith(_STRUCTURED):
        return text
    with suppress(ValueError, RecursionError):
        return text_of_parts(json.loads(text.removeprefix(_STRUCTURED)))
    return ""


_READERS = {
    ("transcript_events",): _openclaw,
    ("session", "message", "part"): _opencode,
    ("sessions", "messages"): _hermes,
}
"""Reader by the tables that it needs."""
