"""Transcripts of Claude Code, Codex and Gemini CLI: files with a JSON object on each line."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from clawmem.adapters.files.regular import open_regular_file
from clawmem.ports.errors import InvalidInput, SourceUnreadable
from clawmem.ports.sessions import Cursor
from clawmem.ports.transcripts import BEGINNING, FileTouch, Speaker, TranscriptMessage, TranscriptPart, turns

LARGEST = 1 << 30  # bytes; a larger file is not a transcript
WHOLE_UP_TO = (
    10 << 20
)  # bytes after the cursor that are read in full; if there are more, only the end is read
FIRST_TAIL = 2 << 20
TAILS = 5  # attempts, each with twice the length of the one before
_CHUNK = 1 << 20

_WRITERS = frozenset({"Edit", "MultiEdit", "NotebookEdit", "Write"})
_READERS = frozenset({"NotebookRead", "Read"})
_GEMINI_RECORDS = frozenset({"sessionId", "$set", "$rewindTo"})  # members of lines that are no messages
_GEMINI_WRITERS, _GEMINI_READERS = frozenset({"replace", "write_file"}), frozenset({"read_file"})
# Files that Codex changes, in the text of its tool.
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (\S[^\n]{0,4096})$", re.MULTILINE)
# Elements that the client or a hook inserts into a message; neither user nor model wrote them.
_OPENING = re.compile(
    r"<(system-reminder|local-command-stdout|local-command-stderr|local-command-caveat|command-name"
    r"|command-message|command-args|command-contents|bash-input|bash-stdout|bash-stderr|task-notification"
    r"|ide_opened_file|ide_selection|user-prompt-submit-hook|vault-[a-z]{1,40}(?:-[a-z]{1,40}){0,8}"
    r"|environment_context|user_instructions|turn_aborted|hook_context|session_context)\b"
)
_INTERRUPTED = re.compile(r"\[Request interrupted by user[^\]]{0,200}\]")
_INSTRUCTIONS = "# AGENTS.md instructions"  # that Codex inserts


class DiskTranscripts:
    """``Transcripts`` in files. Memory is bounded by the longest tail, 32 MB, for files of any size."""

    def read(self, path: str, since: Cursor = BEGINNING, *, enough: int = 4) -> TranscriptPart:
        if "\0" in path or not Path(path).is_absolute() or not path.endswith(".jsonl"):
            raise InvalidInput(
                "INVALID_PATH",
                f"{path[:200]!r} is no transcript. Give the absolute path of a .jsonl file.",
            )
        try:
            with open_regular_file(path) as file:
                size = os.fstat(file.fileno()).st_size
                if size > LARGEST:
                    raise SourceUnreadable(path, f"it has {size} bytes, {LARGEST} are the most")
                start = since if since.offset <= size else BEGINNING
                if size - start.offset <= WHOLE_UP_TO:
                    return _part(file, path, start, size)
                return _tail(file, path, start, size, enough)
        except OSError as error:
            raise SourceUnreadable(path, (error.strerror or str(error)).lower()) from error


def messages_in(lines: Iterable[bytes]) -> tuple[Sequence[TranscriptMessage], int]:
    """
    Return the messages on all *lines* of a transcript, without those of subagents, and the number of unreadable lines.

    A last line without an end is not counted, because it is written at this moment.
    """
    part = _collected(lines, BEGINNING, transcript="")
    return part.messages, part.bad_lines


def _tail(file: BinaryIO, path: str, since: Cursor, size: int, enough: int) -> TranscriptPart:
    """Return the last messages, at least *enough* of them where the longest tail has as many."""
    for attempt in range(TAILS):
        start = max(since.offset, size - (FIRST_TAIL << attempt))
        begin = _next_line(file, start)
        if begin is None:
            continue
        skipped = _lines_between(file, since.offset, begin)
        part = _part(file, path, Cursor(since.line + skipped, begin, since.turns), size)
        if len(part.messages) >= enough or attempt == TAILS - 1:
            return replace(part, is_tail=begin > since.offset)
    # The longest tail contains no complete line, so its content is skipped.
    end = Cursor(since.line + _lines_between(file, since.offset, size), size, since.turns)
    return TranscriptPart((), end, is_tail=True)


def _next_line(file: BinaryIO, start: int) -> int | None:
    """Return the offset of the first line after *start*; None if no line ends after *start*."""
    file.seek(start)
    while chunk := file.read(_CHUNK):
        place = chunk.find(b"\n")
        if place >= 0:
            return file.tell() - len(chunk) + place + 1
    return None


def _lines_between(file: BinaryIO, start: int, end: int) -> int:
    file.seek(start)
    count = 0
    while (left := end - file.tell()) > 0 and (chunk := file.read(min(_CHUNK, left))):
        count += chunk.count(b"\n")
    return count


def _part(file: BinaryIO, path: str, start: Cursor, size: int) -> TranscriptPart:
    """Return the messages from *start*, the beginning of a line, to the last line break before *size*."""

    def whole_lines() -> Iterator[bytes]:
        file.seek(start.offset)
        while (left := size - file.tell()) > 0:
            line = file.readline(left)
            if not line.endswith(b"\n"):
                return
            yield line

    return _collected(whole_lines(), start, path)


def _collected(lines: Iterable[bytes], start: Cursor, transcript: str) -> TranscriptPart:
    """Return the messages on *lines*; several lines with the same id become one message."""
    number, offset, unreadable = start.line, start.offset, 0
    messages: dict[tuple[bool, str], TranscriptMessage] = {}
    for line in lines:
        number += 1
        offset += len(line)
        try:
            if not line.strip():
                continue
            message, is_sidechain = message_of(line, number, transcript)
        except NotConversation:
            continue
        except ValueError:
            unreadable += line.endswith(b"\n")
            continue
        key = (is_sidechain, message.id)
        messages[key] = _joined(messages[key], message) if key in messages else message
    own, aside = (
        tuple(message for (is_aside, _), message in messages.items() if is_aside is wanted)
        for wanted in (False, True)
    )
    return TranscriptPart(own, Cursor(number, offset, start.turns + turns(own)), aside, unreadable)


def _joined(first: TranscriptMessage, second: TranscriptMessage) -> TranscriptMessage:
    """Merge another line of the same message. A line that a resumed session copied adds nothing."""
    if second.speaker is Speaker.USER or second.text in first.text.split("\n\n"):
        text = first.text
    else:
        text = f"{first.text}\n\n{second.text}".strip()
    return replace(first, text=text, files=tuple(dict.fromkeys((*first.files, *second.files))))


# The formats are internal to the clients and change without notice, so every field is validated, and lines that are not
# known to be conversation are skipped.


class NotConversation(Exception):
    """A valid line that is not part of the conversation."""


def message_of(line: bytes, number: int, transcript: str = "") -> tuple[TranscriptMessage, bool]:
    """
    Return the message of one line, and whether a subagent wrote it.

    A message without an id is named by *transcript* and the number of its line, which are unique among all sessions.

    Raises:
        NotConversation: the line is internal to the client.
        ValueError: the line contains no valid message.
    """
    try:
        entry = json.loads(line)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(entry, dict):
        raise ValueError("not an object")  # noqa: TRY004  the line is wrong, not the call
    if entry.get("type") == "response_item":
        message = _codex_message(entry, number, transcript)
    elif entry.get("type") in ("user", "gemini") and "message" not in entry:
        message = _gemini_message(entry, number, transcript)
    else:
        message = _claude_message(entry, number, transcript)
    text = _INTERRUPTED.sub("", without_inserted(message.text)).strip()
    if not text and not message.files:
        raise NotConversation
    return replace(message, text=text), entry.get("isSidechain") is True


def _claude_message(entry: Mapping[str, Any], number: int, transcript: str) -> TranscriptMessage:
    kind, message = entry.get("type"), entry.get("message")
    is_record = kind is None and not entry.keys().isdisjoint(_GEMINI_RECORDS)
    if is_record or kind not in ("user", "assistant") or entry.get("isMeta") or entry.get("isCompactSummary"):
        raise NotConversation
    if not isinstance(message, dict):
        raise ValueError("no message")  # noqa: TRY004  likewise
    content = message.get("content")
    blocks = _objects(content)
    texts = [_text(block, "text") for block in blocks if block.get("type") == "text"]
    files = []
    for block in blocks:
        arguments = block.get("input")
        if block.get("type") == "tool_use" and isinstance(arguments, dict):
            path = _text(arguments, "file_path") or _text(arguments, "notebook_path")
            if path and block.get("name") in _WRITERS | _READERS:
                files.append(FileTouch(path, block.get("name") in _WRITERS))
    return TranscriptMessage(
        _text(message, "id") or _text(entry, "uuid") or f"{transcript}:{number}",
        number,
        Speaker(kind),
        content if isinstance(content, str) else "\n\n".join(texts),
        _text(entry, "timestamp"),
        tuple(files),
        _text(entry, "promptId"),
    )


def _codex_message(entry: Mapping[str, Any], number: int, transcript: str) -> TranscriptMessage:
    payload = entry.get("payload")
    if not isinstance(payload, dict):
        raise ValueError("no payload")  # noqa: TRY004  likewise
    at, name = _text(entry, "timestamp"), _text(payload, "id") or f"{transcript}:{number}"
    if payload.get("type") == "custom_tool_call" and payload.get("name") == "apply_patch":
        paths = _PATCHED.findall(_text(payload, "input"))
        files = tuple(FileTouch(path.strip(), is_written=True) for path in paths)
        return TranscriptMessage(name, number, Speaker.ASSISTANT, "", at, files)
    if payload.get("type") != "message" or payload.get("role") not in ("user", "assistant"):
        raise NotConversation
    blocks = (
        one for one in _objects(payload.get("content")) if one.get("type") in ("input_text", "output_text")
    )
    texts = (
        text for block in blocks if (text := _text(block, "text")) and not text.startswith(_INSTRUCTIONS)
    )
    about = payload.get("internal_chat_message_metadata_passthrough")
    prompt = _text(about, "turn_id") if isinstance(about, dict) else ""
    return TranscriptMessage(name, number, Speaker(payload["role"]), "\n\n".join(texts), at, prompt_id=prompt)


def _gemini_message(entry: Mapping[str, Any], number: int, transcript: str) -> TranscriptMessage:
    """Return the message of a line of Gemini CLI. A later line with the same id replaces the message."""
    content = entry.get("content")
    texts = [content] if isinstance(content, str) else [_text(block, "text") for block in _objects(content)]
    files = []
    for call in _objects(entry.get("toolCalls")):
        arguments = call.get("args")
        path = _text(arguments, "file_path") if isinstance(arguments, dict) else ""
        if path and call.get("name") in _GEMINI_WRITERS | _GEMINI_READERS:
            files.append(FileTouch(path, call.get("name") in _GEMINI_WRITERS))
    return TranscriptMessage(
        _text(entry, "id") or f"{transcript}:{number}",
        number,
        Speaker.USER if entry["type"] == "user" else Speaker.ASSISTANT,
        "\n\n".join(filter(None, texts)),
        _text(entry, "timestamp"),
        tuple(files),
    )


def without_inserted(text: str) -> str:
    """
    Return *text* without the elements that the client inserted; an unclosed element extends to the end.

    Scans *text* once: the search for an end never begins before the previous end.
    """
    parts: list[str] = []
    at = 0
    while opening := _OPENING.search(text, at):
        begins = text.find(">", opening.end())
        if begins < 0:
            break
        parts.append(text[at : opening.start()])
        closing = f"</{opening[1]}>"
        ends = text.find(closing, begins)
        at = len(text) if ends < 0 else ends + len(closing)
    return "".join([*parts, text[at:]])


def _objects(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _text(record: Mapping[str, Any], key: str) -> str:
    value = record.get(key)
    return value if isinstance(value, str) else ""
