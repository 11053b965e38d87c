"""Sessions that Claude Code, Codex, Gemini CLI, OpenClaw and OpenCode record in JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence

from clawmem.adapters.conversations.members import (
    Member,
    Record,
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


def reader_of(source: str, read_messages: ReadMessages) -> Callable[[Member], Conversations]:
    """Return the reader of the sessions of *source*."""

    def read(member: Member) -> Conversations:
        facts = Record()
        lines = member.lines()
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
            project_labels(facts.text("cwd")),
        )
        yield from _unreadable_lines(member, unreadable)

    return read


def _with_facts(lines: Iterable[bytes], facts: Record) -> Iterator[bytes]:
    """Yield *lines*, and note the title, the working folder and the first time of the session."""
    for line in lines:
        has_title = b"title" in line[:200] or b'"summary"' in line[:200]
        if has_title or ("cwd" not in facts and b'"cwd"' in line) or "timestamp" not in facts:
            record = parsed(line)
            kind = record.text("type")
            found = {
                "timestamp": facts.text("timestamp") or record.text("timestamp", "startTime"),
                "cwd": facts.text("cwd") or record.text("cwd") or record.object("payload").text("cwd"),
                kind: record.text(_TITLES.get(kind, "")),
            }
            facts.update({name: value for name, value in found.items() if value})
        yield line


def read_openclaw(member: Member) -> Conversations:
    """Yield the session of OpenClaw in a file."""
    return openclaw_session(member.stem, member.lines(), member)


def openclaw_session(name: str, lines: Iterable[bytes], member: Member) -> Conversations:
    """Yield the session in *lines* of *member*, and a fault if some could not be read."""
    started, unreadable = None, 0
    messages: list[ImportedMessage] = []
    for number, line in enumerate(lines, start=1):
        try:
            record = Record(json.loads(line))
        except (ValueError, RecursionError):
            unreadable += bool(line.strip()) and line.endswith(b"\n")
            continue
        message = record.object("message")
        if record.get("type") == "session":
            name, started = record.text("id") or name, record.time("timestamp")
        elif record.get("type") == "message" and message.get("role") in ("user", "assistant"):
            at = record.time("timestamp") or message.time("timestamp")
            text = message.text("content") or text_of_parts(message.get("content"))
            key = record.text("id") or f"line-{number}"
            messages.append(ImportedMessage(key, text, at, Speaker(message["role"])))
    yield ImportedConversation("openclaw", name, "", messages, started)
    yield from _unreadable_lines(member, unreadable)


def read_opencode(member: Member) -> Iterator[ImportedConversation]:
    """Yield the sessions of `opencode export`."""
    for session in member.objects():
        messages = session.objects("messages")
        parts = ((message.object("info"), message.objects("parts")) for message in messages)
        yield opencode_session(session.object("info"), parts)


def opencode_session(info: Record, messages: Iterable[tuple[Record, list[Record]]]) -> ImportedConversation:
    """Return a session with its messages and their parts; what neither user nor agent wrote is left out."""
    written = [
        ImportedMessage(
            message.text("id"),
            text_of_parts(parts),
            message.object("time").time("created"),
            Speaker(message["role"]),
        )
        for message, parts in messages
        if message.get("role") in ("user", "assistant")
    ]
    project, started = project_labels(info.text("directory")), info.object("time").time("created")
    return ImportedConversation("opencode", info.text("id"), info.text("title"), written, started, project)


def text_of_parts(parts: object) -> str:
    """Return the texts in *parts* of a message, without tool calls and what the agent inserted."""
    return paragraphs(
        *(
            part.text("text")
            for part in records_in(parts)
            if part.get("type") == "text" and not part.get("synthetic") and not part.get("ignored")
        )
    )


def project_labels(folder: str) -> tuple[tuple[str, str], ...]:
    """Return the label of a session in the working *folder*."""
    return labels(project=folder.replace("\\", "/").rstrip("/").rpartition("/")[2])


def _unreadable_lines(member: Member, count: int) -> Iterator[ReadFault]:
    """Yield a fault if *count* lines of a session could not be read."""
    if count:
        yield ReadFault(member.place, f"{count} {'line' if count == 1 else 'lines'} could not be read")
