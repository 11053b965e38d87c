"""
Parser for the lines of a transcript: one JSON object each, of which only messages are used.

The lines of Claude Code, Codex and Gemini CLI are recognised by their members. The formats are internal to the clients
and change without notice, so every field is validated, and lines that are not known to be conversation are skipped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from clawmem.ports.transcripts import FileTouch, Speaker, TranscriptMessage

WRITERS = frozenset({"Edit", "MultiEdit", "NotebookEdit", "Write"})
READERS = frozenset({"NotebookRead", "Read"})

# Elements that the client or a hook inserts into a message; neither user nor model wrote them.
_OPENING = re.compile(
    r"<(system-reminder|local-command-stdout|local-command-stderr|local-command-caveat|command-name"
    r"|command-message|command-args|command-contents|bash-input|bash-stdout|bash-stderr|task-notification"
    r"|ide_opened_file|ide_selection|user-prompt-submit-hook|vault-[a-z]{1,40}(?:-[a-z]{1,40}){0,8}"
    r"|environment_context|user_instructions|turn_aborted|hook_context|session_context)\b"
)
_INTERRUPTED = re.compile(r"\[Request interrupted by user[^\]]{0,200}\]")


_GEMINI_RECORDS = frozenset({"sessionId", "$set", "$rewindTo"})  # members of lines that are no messages
# Files that Codex changes, in the text of its tool.
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (\S[^\n]{0,4096})$", re.MULTILINE)
_GEMINI_WRITERS, _GEMINI_READERS = frozenset({"replace", "write_file"}), frozenset({"read_file"})


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
        return _codex_message(entry, number, transcript), False
    if entry.get("type") in ("user", "gemini") and "message" not in entry:
        return _gemini_message(entry, number, transcript), False
    if "type" not in entry and not entry.keys().isdisjoint(_GEMINI_RECORDS):
        raise NotConversation
    speaker = _speaker(entry)
    message = entry.get("message")
    if not isinstance(message, dict):
        raise ValueError("no message")  # noqa: TRY004  likewise
    content = message.get("content")
    text = _INTERRUPTED.sub("", without_wrapped("\n\n".join(_texts(content)))).strip()
    files = tuple(_files(content))
    if not text and not files:
        raise NotConversation
    name = _text(message.get("id")) or _text(entry.get("uuid")) or f"{transcript}:{number}"
    at = _text(entry.get("timestamp"))
    prompt = _text(entry.get("promptId"))
    return TranscriptMessage(name, number, speaker, text, at, files, prompt), entry.get("isSidechain") is True


def _codex_message(entry: Mapping[str, Any], number: int, transcript: str) -> TranscriptMessage:
    """Return the message of a line of a Codex rollout."""
    payload = entry.get("payload")
    if not isinstance(payload, dict):
        raise ValueError("no payload")  # noqa: TRY004  likewise
    at, name = _text(entry.get("timestamp")), _text(payload.get("id")) or f"{transcript}:{number}"
    if payload.get("type") == "custom_tool_call" and payload.get("name") == "apply_patch":
        paths = _PATCHED.findall(_text(payload.get("input")))
        if paths:
            files = tuple(FileTouch(path.strip(), is_written=True) for path in paths)
            return TranscriptMessage(name, number, Speaker.ASSISTANT, "", at, files)
    if payload.get("type") != "message" or payload.get("role") not in ("user", "assistant"):
        raise NotConversation
    texts = (_text(one.get("text")) for one in _blocks(payload.get("content")) if _is_codex_text(one))
    prompt = _passed_through(payload).get("turn_id")
    return _said(name, number, Speaker(payload["role"]), texts, at, prompt=_text(prompt))


def _is_codex_text(block: Mapping[str, Any]) -> bool:
    text = _text(block.get("text"))
    return block.get("type") in ("input_text", "output_text") and not text.startswith(
        "# AGENTS.md instructions"
    )


def _passed_through(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    found = payload.get("internal_chat_message_metadata_passthrough")
    return found if isinstance(found, dict) else {}


def _gemini_message(entry: Mapping[str, Any], number: int, transcript: str) -> TranscriptMessage:
    """Return the message of a line of a session of Gemini CLI. A later line with the same id replaces the message."""
    content = entry.get("content")
    texts = [content] if isinstance(content, str) else [_text(one.get("text")) for one in _blocks(content)]
    speaker = Speaker.USER if entry["type"] == "user" else Speaker.ASSISTANT
    name = _text(entry.get("id")) or f"{transcript}:{number}"
    return _said(
        name, number, speaker, texts, _text(entry.get("timestamp")), files=tuple(_gemini_files(entry))
    )


def _gemini_files(entry: Mapping[str, Any]) -> Iterator[FileTouch]:
    for call in _blocks(entry.get("toolCalls")):
        given = call.get("args")
        path = _text(given.get("file_path")) if isinstance(given, dict) else ""
        if path and call.get("name") in _GEMINI_WRITERS | _GEMINI_READERS:
            yield FileTouch(path, call.get("name") in _GEMINI_WRITERS)


def _said(
    name: str,
    number: int,
    speaker: Speaker,
    texts: Iterable[str],
    at: str,
    *,
    files: tuple[FileTouch, ...] = (),
    prompt: str = "",
) -> TranscriptMessage:
    text = without_wrapped("\n\n".join(filter(None, texts))).strip()
    if not text and not files:
        raise NotConversation
    return TranscriptMessage(name, number, speaker, text, at, files, prompt)


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
