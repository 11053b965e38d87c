"""Sessions of agents on this machine in files: Claude Code, Codex, Gemini CLI, OpenClaw and OpenCode."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from clawmem.adapters.conversations.format import Format
from clawmem.adapters.conversations.members import Member, Tree, Unreadable
from clawmem.adapters.conversations.shapes import (
    Kind,
    Shape,
    dicts_in,
    object_in,
    objects_in,
    text_in,
    time_in,
)
from clawmem.ports.conversations import ImportedConversation, ImportedMessage, ReadFault
from clawmem.ports.transcripts import Speaker, TranscriptMessage

ReadMessages = Callable[[Iterable[bytes]], tuple[Sequence[TranscriptMessage], int]]
"""Parses the lines of a session of Claude Code, Codex or Gemini CLI; the number is that of unreadable lines."""

_TITLES = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}
_RANK = (*_TITLES, "")


def formats(read_messages: ReadMessages) -> tuple[Format, ...]:
    """Return the formats of agents."""
    recorded = {"claude-code": _is_claude_code, "codex": _is_codex, "gemini-cli": _is_gemini_cli}
    return (
        Format("openclaw", _is_openclaw, _openclaw),
        *(
            Format(source, is_one, partial(_sessions, source, read_messages))
            for source, is_one in recorded.items()
        ),
        Format("opencode", _is_opencode_export, _opencode_export),
        Format("opencode", _is_opencode_file, _opencode_storage, _opencode_root),
    )


# -- Claude Code, Codex, Gemini CLI -------------------------------------------------------------------


def _sessions(
    source: str, read_messages: ReadMessages, members: Sequence[Member], tree: Tree
) -> Iterator[ImportedConversation | ReadFault]:
    for member in members:
        facts: dict[str, str] = {}
        lines = _gemini_lines(member) if member.name.endswith(".json") else member.lines()
        said, bad = read_messages(_noting(lines, facts))
        title = next((facts[kind] for kind in _TITLES if kind in facts), "")
        name = member.name.rpartition("/")[2].rpartition(".")[0]
        messages = [
            ImportedMessage(one.id, one.text, one.at or None, one.speaker) for one in said if one.text
        ]
        yield ImportedConversation(source, name, title, messages, labels=project_labels(facts.get("cwd", "")))
        yield from _unread(member, bad)


def project_labels(folder: str) -> tuple[tuple[str, str], ...]:
    """Return the label of a session in the working *folder*."""
    project = folder.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return (("project", project),) if project else ()


def _unread(member: Member, lines: int) -> Iterator[ReadFault]:
    """Yield a fault if *lines* of a session could not be read."""
    if lines:
        yield ReadFault(member.place, f"{lines} {'line' if lines == 1 else 'lines'} could not be read")


def _noting(lines: Iterable[bytes], facts: dict[str, str]) -> Iterator[bytes]:
    """Yield *lines* and note the title and the working folder of the session."""
    for line in lines:
        has_title = b"title" in line[:200] or b'"summary"' in line[:200]
        if has_title or ("cwd" not in facts and b'"cwd"' in line):
            with suppress(ValueError, RecursionError):
                one = object_in(json.loads(line))
                kind = text_in(one.get("type"))
                if title := text_in(one.get(_TITLES.get(kind, ""))):
                    facts[kind] = title
                if cwd := text_in(one.get("cwd")) or text_in(object_in(one.get("payload")).get("cwd")):
                    facts.setdefault("cwd", cwd)
        yield line


def _gemini_lines(member: Member) -> Iterator[bytes]:
    """Yield the messages of a session that is one JSON object, each as a line."""
    for one in objects_in(member):
        for message in dicts_in(one.get("messages")):
            yield json.dumps(message).encode() + b"\n"


def _is_claude_code(shape: Shape) -> bool:
    kinds = ("user", "assistant", "human")
    return any(
        "sessionId" in one and (one.get("type") in kinds or one.get("type") in _TITLES or "uuid" in one)
        for one in shape.lines
    )


def _is_codex(shape: Shape) -> bool:
    return any(
        one.get("type") in ("session_meta", "response_item") and "payload" in one for one in shape.lines
    )


def _is_gemini_cli(shape: Shape) -> bool:
    is_session = shape.has("sessionId", "projectHash") or shape.has("sessionId", "startTime")
    return is_session and "type" not in shape.keys


# -- OpenClaw -----------------------------------------------------------------------------------------


def _openclaw(members: Sequence[Member], tree: Tree) -> Iterator[ImportedConversation | ReadFault]:
    for member in members:
        name = member.name.rpartition("/")[2].rpartition(".")[0]
        yield from openclaw_session(name, member.lines(), member)


def openclaw_session(
    name: str, lines: Iterable[bytes], member: Member
) -> Iterator[ImportedConversation | ReadFault]:
    """Yield the session in *lines* of *member*, and a fault if some could not be read."""
    started, bad = None, 0
    messages: list[ImportedMessage] = []
    for number, line in enumerate(lines, start=1):
        try:
            one = object_in(json.loads(line))
        except (ValueError, RecursionError):
            bad += bool(line.strip()) and line.endswith(b"\n")
            continue
        if one.get("type") == "session":
            name, started = text_in(one.get("id")) or name, time_in(one.get("timestamp"))
        messages += _openclaw_message(one, number)
    yield ImportedConversation("openclaw", name, "", messages, started)
    yield from _unread(member, bad)


def _openclaw_message(one: Mapping[str, Any], number: int) -> Iterator[ImportedMessage]:
    message = object_in(one.get("message"))
    if one.get("type") == "message" and message.get("role") in ("user", "assistant"):
        at = time_in(one.get("timestamp")) or time_in(message.get("timestamp"))
        said = message.get("content")
        text = said if isinstance(said, str) else said_in(said)
        yield ImportedMessage(text_in(one.get("id")) or f"line-{number}", text, at, Speaker(message["role"]))


def said_in(parts: object) -> str:
    """Return the texts in *parts* of a message, without tool calls and what the agent inserted."""
    said = (text_in(part.get("text")) for part in dicts_in(parts) if _is_said(part))
    return "\n\n".join(filter(None, said))


def _is_said(part: Mapping[str, Any]) -> bool:
    return part.get("type") == "text" and not part.get("synthetic") and not part.get("ignored")


def _is_openclaw(shape: Shape) -> bool:
    return any(
        one.get("type") == "message" and isinstance(one.get("message"), dict) and "sessionId" not in one
        for one in shape.lines
    ) or (shape.kind is Kind.LINES and shape.values.get("type") == "session" and "payload" not in shape.keys)


# -- OpenCode -----------------------------------------------------------------------------------------


def _opencode_export(members: Sequence[Member], tree: Tree) -> Iterator[ImportedConversation]:
    for member in members:
        for one in objects_in(member):
            said = (
                opencode_message(object_in(item.get("info")), dicts_in(item.get("parts")))
                for item in dicts_in(one.get("messages"))
            )
            yield opencode_session(object_in(one.get("info")), filter(None, said))


def _opencode_storage(members: Sequence[Member], tree: Tree) -> Iterator[ImportedConversation]:
    """Yield the sessions of a storage folder: a file for each session, message and part."""
    sessions: dict[str, dict[str, Any]] = {}
    messages: dict[str, list[dict[str, Any]]] = {}
    parts: dict[str, list[dict[str, Any]]] = {}
    for member in members:
        with suppress(Unreadable):  # it is written at this moment
            for one in objects_in(member):
                if "messageID" in one:
                    parts.setdefault(text_in(one["messageID"]), []).append(one)
                elif "sessionID" in one:
                    messages.setdefault(text_in(one["sessionID"]), []).append(one)
                elif "projectID" in one:
                    sessions[text_in(one.get("id"))] = one
    for name, session in sessions.items():
        if session.get("parentID"):  # of a subagent
            continue
        ordered = sorted(messages.get(name, ()), key=lambda one: text_in(one.get("id")))
        said = (
            opencode_message(
                one, sorted(parts.get(text_in(one.get("id")), ()), key=lambda part: text_in(part.get("id")))
            )
            for one in ordered
        )
        yield opencode_session(session, filter(None, said))


def opencode_session(info: Mapping[str, Any], said: Iterable[ImportedMessage]) -> ImportedConversation:
    """Return a session with its messages."""
    return ImportedConversation(
        "opencode",
        text_in(info.get("id")),
        text_in(info.get("title")),
        list(said),
        time_in(object_in(info.get("time")).get("created")),
        project_labels(text_in(info.get("directory"))),
    )


def opencode_message(info: Mapping[str, Any], parts: Sequence[Mapping[str, Any]]) -> ImportedMessage | None:
    """Return a message with its parts; ``None`` if neither user nor agent wrote it."""
    role = info.get("role")
    if role not in ("user", "assistant"):
        return None
    at = time_in(object_in(info.get("time")).get("created"))
    return ImportedMessage(text_in(info.get("id")), said_in(list(parts)), at, Speaker(role))


def _opencode_root(name: str) -> str:
    """Return the storage folder of a file in ``session/PROJECT/``, ``message/SESSION/`` or ``part/MESSAGE/``."""
    return f"{'/'.join(name.split('/')[:-3])}/"


def _is_opencode_export(shape: Shape) -> bool:
    return shape.kind is Kind.OBJECT and shape.has("info", "messages")


def _is_opencode_file(shape: Shape) -> bool:
    is_part = shape.has("messageID", "sessionID")
    is_message = shape.has("sessionID", "role")
    return shape.kind is Kind.OBJECT and (is_part or is_message or shape.has("projectID", "directory", "id"))
