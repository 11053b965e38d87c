"""
Parser for the lines of a Claude Code transcript: one JSON object each, of which only messages are used.

The format is internal to the client and changes without notice, so every field is validated, and lines that
are not known to be conversation are skipped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from clawmem.ports.transcripts import FileTouch, Speaker, TranscriptMessage

WRITERS = frozenset({"Edit", "MultiEdit", "NotebookEdit", "Write"})
READERS = frozenset({"NotebookRead", "Read"})

# Elements that the client or a hook inserts into a message; neither user nor model wrote them.
_OPENING = re.compile(
    r"<(system-reminder|local-command-stdout|local-command-stderr|local-command-caveat|command-name"
    r"|command-message|command-args|command-contents|bash-input|bash-stdout|bash-stderr|task-notification"
    r"|ide_opened_file|ide_selection|user-prompt-submit-hook|vault-[a-z]{1,40}(?:-[a-z]{1,40}){0,8})\b"
)
_INTERRUPTED = re.compile(r"\[Request interrupted by user[^\]]{0,200}\]")


class NotConversation(Exception):
    """A valid line that is not part of the conversation."""


def message_of(line: bytes, number: int) -> tuple[TranscriptMessage, bool]:
    """
    Return the message of one line, and whether a subagent wrote it.

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
    speaker = _speaker(entry)
    message = entry.get("message")
    if not isinstance(message, dict):
        raise ValueError("no message")  # noqa: TRY004  likewise
    content = message.get("content")
    text = _INTERRUPTED.sub("", without_wrapped("\n\n".join(_texts(content)))).strip()
    files = tuple(_files(content))
    if not text and not files:
        raise NotConversation
    name = _text(message.get("id")) or _text(entry.get("uuid")) or f"line-{number}"
    at = _text(entry.get("timestamp"))
    prompt = _text(entry.get("promptId"))
    return TranscriptMessage(name, number, speaker, text, at, files, prompt), entry.get("isSidechain") is True


def without_wrapped(text: str) -> str:
    """
    Return *text* without the elements that the client inserted; an unclosed element extends to the end.

    Scans *text* once: the search for an end never begins before the previous end.
    """
    kept: list[str] = []
    at = 0
    while opening := _OPENING.search(text, at):
        begins = text.find(">", opening.end())
        if begins < 0:
            break
        kept.append(text[at : opening.start()])
        closing = f"</{opening[1]}>"
        ends = text.find(closing, begins)
        at = len(text) if ends < 0 else ends + len(closing)
    kept.append(text[at:])
    return "".join(kept)


def _speaker(entry: Mapping[str, Any]) -> Speaker:
    kind = entry.get("type")
    if kind not in ("user", "assistant") or entry.get("isMeta") or entry.get("isCompactSummary"):
        raise NotConversation
    return Speaker(kind)


def _texts(content: object) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for block in _blocks(content):
        if block.get("type") == "text":
            yield _text(block.get("text"))


def _files(content: object) -> Iterator[FileTouch]:
    for block in _blocks(content):
        if block.get("type") == "tool_use" and isinstance(given := block.get("input"), dict):
            path = _text(given.get("file_path")) or _text(given.get("notebook_path"))
            if path and block.get("name") in WRITERS | READERS:
                yield FileTouch(path, block.get("name") in WRITERS)


def _blocks(content: object) -> list[dict[str, Any]]:
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
