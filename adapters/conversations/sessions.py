"""Sessions of Claude Code, Codex, Gemini CLI, OpenClaw, OpenCode and Hermes, in JSON and in SQLite."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from urllib.parse import quote

import apsw

from clawmem.adapters.conversations.members import (
    Member,
    NotAConversation,
    Record,
    Unreadable,
    labels,
    paragraphs,
    parsed,
    records_in,
)
from clawmem.ports.imports import ImportedConversation, ImportedMessage, ReadFault
from clawmem.ports.sessions import Speaker, TranscriptMessage

Conversations = Iterator[ImportedConversation | ReadFault]
ReadMessages = Callable[[Iterable[bytes]], tuple[Sequence[TranscriptMessage], int]]
"""Parses the lines of a session of Claude Code, Codex or Gemini CLI; the number is that of unreadable lines."""

_TITLES = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}
"""Member with a title by the type of its line, best first."""


def read_session(source: str, read_messages: ReadMessages, member: Member) -> Conversations:
    """Yield the session of *source*, and a fault if lines of it could not be read."""
    facts, lines = Record(), member.lines()
    if member.name.endswith(".json"):  # one object, with the messages of Gemini CLI
        messages = (message for session in member.objects() for message in session.objects("messages"))
        lines = (json.dumps(message).encode() + b"\n" for message in messages)
    read_lines, unreadable = read_messages(_with_facts(lines, facts))
    yield ImportedConversation(
        source,
        member.stem,
        facts.text(*_TITLES),
        [
            ImportedMessage(message.id, message.text, message.at or None, message.speaker)
            for message in read_lines
            if message.text
        ],
        facts.text("timestamp") or None,
        _project_labels(facts.text("cwd")),
    )
    if unreadable:
        yield ReadFault(member.place, f"lines that could not be read: {unreadable}")


def _with_facts(lines: Iterable[bytes], facts: Record) -> Iterator[bytes]:
    """Yield *lines*, and note the title, the working folder and the first time of the session."""
    for line in lines:
        record = parsed(line)
        kind = record.text("type")
        values = {
            "timestamp": facts.text("timestamp") or record.text("timestamp", "startTime"),
            "cwd": facts.text("cwd") or record.text("cwd") or record.object("payload").text("cwd"),
            kind: record.text(_TITLES.get(kind, "")),
        }
        facts.update({name: value for name, value in values.items() if value})
        yield line


def read_openclaw(member: Member, lines: Iterable[bytes] = (), name: str = "") -> Conversations:
    """Yield the session of OpenClaw in *lines*, by default those of the file, and a fault if some could not be read."""
    name, lines = name or member.stem, lines or member.lines()
    started, unreadable = None, 0
    messages: list[ImportedMessage] = []
    for number, line in enumerate(lines, start=1):
        record = parsed(line)
        message = record.object("message")
        unreadable += not record and bool(line.strip()) and line.endswith(b"\n")
        if record.get("type") == "session":
            name, started = record.text("id") or name, record.time("timestamp")
        elif record.get("type") == "message" and message.get("role") in ("user", "assistant"):
            at = record.time("timestamp") or message.time("timestamp")
            text = message.text("content") or _text_of_parts(message.get("content"))
            key = record.text("id") or f"line-{number}"
            messages.append(ImportedMessage(key, text, at, Speaker(message["role"])))
    yield ImportedConversation("openclaw", name, "", messages, started)
    if unreadable:
        yield ReadFault(member.place, f"lines that could not be read: {unreadable}")


def _text_of_parts(parts: object) -> str:
    """Return the texts in *parts* of a message, without tool calls and what the agent inserted."""
    return paragraphs(
        *(
            part.text("text")
            for part in records_in(parts)
            if part.get("type") == "text" and not part.get("synthetic") and not part.get("ignored")
        )
    )


def _project_labels(folder: str) -> tuple[tuple[str, str], ...]:
    return labels(project=folder.replace("\\", "/").rstrip("/").rpartition("/")[2])


BUSY_MS = 2_000  # an agent writes for milliseconds


def read_database(member: Member) -> Conversations:
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


def _openclaw_rows(database: apsw.Connection, member: Member) -> Conversations:
    """Yield the sessions; events that the agent has compressed count as unreadable lines."""
    query = (
        "select coalesce(event_json, 'compressed') from transcript_events where session_id = ? order by seq"
    )
    for (name,) in database.execute("select distinct session_id from transcript_events order by 1"):
        events = database.execute(query, (name,))
        yield from read_openclaw(member, (f"{event}\n".encode() for (event,) in events), name)


def _opencode_rows(database: apsw.Connection, member: Member) -> Conversations:
    """Yield the sessions, without those of subagents, and without summaries."""
    sessions = "select id, title, directory, time_created from session where parent_id is null order by id"
    query = "select id, time_created, data from message where session_id = ? order by time_created, id"
    of_message = (
        "select json_group_array(json(data)) from (select data from part where message_id = ? order by id)"
    )
    for name, title, directory, started in database.execute(sessions):
        messages = []
        for key, at, data in database.execute(query, (name,)):
            message = parsed(data)
            if message.get("role") in ("user", "assistant") and message.get("summary") is not True:
                [(parts,)] = database.execute(of_message, (key,))
                text = _text_of_parts(json.loads(parts))
                if message["role"] == "user" and _QUOTED.fullmatch(text):  # by `opencode run`
                    text = text[1:-1].replace('\\"', '"')
                messages.append(ImportedMessage(key, text, at, Speaker(message["role"])))
        yield ImportedConversation("opencode", name, title, messages, started, _project_labels(directory))


_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_STRUCTURED = "\0json:"  # before content that is a list of parts
_SUMMARIES = ("[CONTEXT COMPACTION", "[CONTEXT SUMMARY]")  # of earlier messages, which are stored as well


def _hermes_rows(database: apsw.Connection, member: Member) -> Conversations:
    """
    Yield the sessions, without those of subagents.

    A compaction copies the last messages behind a summary; neither is a message. Messages that the user took back are
    left out.
    """
    sessions = (
        "select id, coalesce(title, ''), coalesce(cwd, ''), started_at from sessions "
        "where coalesce(model_config, '') not like '%\"_delegate_from\"%' order by id"
    )
    query = (
        "select id, role, content, timestamp, active, compacted from messages "
        "where session_id = ? and role in ('user', 'assistant') order by id"
    )
    for name, title, directory, started in database.execute(sessions):
        rows = list(database.execute(query, (name,)))
        compacted = {(role, content) for _, role, content, _, _, is_compacted in rows if is_compacted}
        messages = []
        for key, role, content, at, is_active, is_compacted in rows:
            text = content if isinstance(content, str) else ""
            if text.startswith(_STRUCTURED):
                text = _text_of_parts(parsed(f'{{"parts": {text.removeprefix(_STRUCTURED)}}}').get("parts"))
            is_copy = not is_compacted and (not is_active or (role, content) in compacted)
            if text and not is_copy and not text.startswith(_SUMMARIES):
                messages.append(ImportedMessage(str(key), text, at, Speaker(role)))
        yield ImportedConversation("hermes", name, title, messages, started, _project_labels(directory))


_READERS = {
    ("transcript_events",): _openclaw_rows,
    ("session", "message", "part"): _opencode_rows,
    ("sessions", "messages"): _hermes_rows,
}
"""Reader by the tables that it needs."""
