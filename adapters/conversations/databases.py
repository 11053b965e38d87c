"""Databases of agents that keep their sessions in SQLite: OpenClaw, OpenCode and Hermes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from clawmem.adapters.conversations.agents import (
    openclaw_session,
    opencode_message,
    opencode_session,
    project_labels,
    said_in,
)
from clawmem.adapters.conversations.format import Format
from clawmem.adapters.conversations.members import UNKNOWN, Member, NotAConversation, Tree, Unreadable
from clawmem.adapters.conversations.shapes import Kind, dicts_in, object_in, text_in, time_in
from clawmem.ports.conversations import ImportedConversation, ImportedMessage, ReadFault
from clawmem.ports.transcripts import Speaker

if TYPE_CHECKING:
    from apsw import Connection

BUSY_MS = 2_000  # an agent writes for milliseconds
Said = Iterator[ImportedConversation | ReadFault]


def _read(members: Sequence[Member], tree: Tree) -> Said:
    import apsw

    for member in members:
        if member.archive:
            raise Unreadable("it is a database in a ZIP file; unpack it first")
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        try:
            with closing(apsw.Connection(f"file:{quote(os.fsencode(member.place))}?mode=ro", flags)) as found:
                found.set_busy_timeout(BUSY_MS)
                yield from _reader_of(found)(found, member)
        except (apsw.Error, UnicodeError) as error:
            raise Unreadable(f"its database cannot be read ({error})") from error


def _reader_of(database: Connection) -> Callable[[Connection, Member], Said]:
    """
    Return the reader for the tables of *database*.

    Raises:
        NotAConversation: It is of no agent that is known.
    """
    for tables, read in _READERS.items():
        if all(_columns(database, table) for table in tables):
            return read
    raise NotAConversation(UNKNOWN)


def _rows(database: Connection, query: str, *bindings: str) -> Iterator[tuple[Any, ...]]:
    yield from database.execute(query, bindings)


def _columns(database: Connection, table: str) -> frozenset[str]:
    return frozenset(name for (name,) in database.execute("select name from pragma_table_info(?)", (table,)))


# -- OpenClaw -----------------------------------------------------------------------------------------


def _openclaw(database: Connection, member: Member) -> Said:
    has_compressed = "event_zstd" in _columns(database, "transcript_events")
    event = "coalesce(event_json, event_zstd)" if has_compressed else "event_json"
    for (name,) in _rows(database, "select distinct session_id from transcript_events order by 1"):
        events = _rows(
            database, f"select {event} from transcript_events where session_id = ? order by seq", name
        )
        yield from openclaw_session(name, (_event(one) for (one,) in events), member)


def _event(stored: str | bytes) -> bytes:
    """Return an event as a line; the agent compresses those of old sessions, which needs Python 3.14."""
    if isinstance(stored, bytes):
        with suppress(ImportError, ValueError):
            from compression import zstd  # type: ignore[import-not-found,unused-ignore]

            return bytes(zstd.decompress(stored)) + b"\n"
        return b"compressed\n"
    return stored.encode() + b"\n"


# -- OpenCode -----------------------------------------------------------------------------------------


def _opencode(database: Connection, member: Member) -> Said:
    """Yield the sessions, without those of subagents."""
    sessions = "select id, title, directory, time_created from session where parent_id is null order by id"
    for name, title, directory, created in _rows(database, sessions):
        parts: dict[str, list[Mapping[str, Any]]] = {}
        of_session = "select message_id, data from part where session_id = ? order by id"
        for message, data in _rows(database, of_session, name):
            parts.setdefault(message, []).append(_object(data))
        messages = _rows(
            database, "select id, data from message where session_id = ? order by time_created, id", name
        )
        said = (opencode_message({**_object(data), "id": id}, parts.get(id, [])) for id, data in messages)
        info = {"id": name, "title": title, "directory": directory, "time": {"created": created}}
        yield opencode_session(info, filter(None, said))


def _object(data: str) -> dict[str, Any]:
    with suppress(ValueError, RecursionError):
        return object_in(json.loads(data))
    return {}


# -- Hermes -------------------------------------------------------------------------------------------

_STRUCTURED = "\0json:"  # before content that is a list of parts
_SUMMARIES = ("[CONTEXT COMPACTION", "[CONTEXT SUMMARY]")  # of earlier messages, which are kept
_SUBAGENT = '%"_delegate_from"%'


def _hermes(database: Connection, member: Member) -> Said:
    """
    Yield the sessions, without those of subagents.

    A compaction copies the last messages behind a summary; neither is a message. Messages that the user took back are left
    out.
    """
    columns = _columns(database, "sessions")
    title, folder = (name if name in columns else "''" for name in ("title", "cwd"))
    marked = {"active", "compacted"} <= _columns(database, "messages")
    sessions = (
        f"select id, {title}, {folder}, started_at from sessions "
        "where coalesce(model_config, '') not like ? order by id"
    )
    said = (
        f"select id, role, content, timestamp, {'active, compacted' if marked else '1, 0'} from messages "
        "where session_id = ? and role in ('user', 'assistant') order by id"
    )
    for name, heading, directory, started in _rows(database, sessions, _SUBAGENT):
        rows = list(_rows(database, said, name))
        kept = {(role, content) for _, role, content, _, _, is_old in rows if is_old}
        messages = [
            ImportedMessage(str(id), text, time_in(at), Speaker(role))
            for id, role, content, at, is_active, is_old in rows
            if is_old or (is_active and (role, content) not in kept)
            if (text := _hermes_text(content)) and not text.startswith(_SUMMARIES)
        ]
        labels = project_labels(text_in(directory))
        yield ImportedConversation("hermes", name, text_in(heading), messages, time_in(started), labels)


def _hermes_text(content: object) -> str:
    text = text_in(content)
    if not text.startswith(_STRUCTURED):
        return text
    with suppress(ValueError, RecursionError):
        return said_in(dicts_in(json.loads(text.removeprefix(_STRUCTURED))))
    return ""


_READERS: Mapping[tuple[str, ...], Callable[[Connection, Member], Said]] = {
    ("transcript_events",): _openclaw,
    ("session", "message", "part"): _opencode,
    ("sessions", "messages"): _hermes,
}
"""Reader by the tables that it needs."""

FORMATS = (Format("agent", lambda shape: shape.kind is Kind.DATABASE, _read),)
