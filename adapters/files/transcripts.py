"""Transcripts of Claude Code, Codex and Gemini CLI: files with a JSON object on each line."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice, takewhile
from pathlib import Path
from typing import Any, BinaryIO

from clawmem.adapters.files.disk import open_regular_file
from clawmem.ports.errors import InvalidInput, SourceUnreadable
from clawmem.ports.json_text import read_json
from clawmem.ports.sessions import BEGINNING, Cursor, FileTouch, Speaker, TranscriptMessage, TranscriptPart

LARGEST = 1 << 30  # bytes; a larger file is not a transcript
LONGEST_PART = 10 << 20  # bytes after the cursor; of more only the end is read
_CHUNK = 1 << 20

_WRITERS = frozenset("Edit MultiEdit NotebookEdit Write replace write_file".split())
_READERS = frozenset("NotebookRead Read read_file".split())
# Files that Codex changes, in the text of its tool.
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (\S[^\n]{0,4096})$", re.MULTILINE)
# Elements that the client or a hook inserts into a message; neither user nor model wrote them. An unclosed one extends
# to the end.
_INSERTED = re.compile(
    r"<(system-reminder|local-command-stdout|local-command-stderr|local-command-caveat|command-name"
    r"|command-message|command-args|command-contents|bash-input|bash-stdout|bash-stderr|task-notification"
    r"|ide_opened_file|ide_selection|user-prompt-submit-hook|vault-[a-z]{1,40}(?:-[a-z]{1,40}){0,8}"
    r"|environment_context|user_instructions|turn_aborted|hook_context|session_context|state_snapshot|teammate-message"
    r"|skill|user_shell_command|subagent_notification|recommended_plugins|codex_internal_context|goal_context|hook_prompt"
    r")\b[^<>]{0,1000}>.*?(?:</\1>|\Z)|\[Request interrupted by user[^\]]{0,200}\]"
    # Files named with @ in Gemini CLI, and what the editor adds before a request to Codex.
    r"|--- Content from referenced files ---.*?(?:--- End of content ---|\Z)"
    r"|\A# (?:Context from my IDE setup|Files mentioned by the user):.*?\n## My request for Codex:",
    re.DOTALL,
)
# Beginnings of summaries, and of requests for one, that clients put into a conversation when they compact it.
_SUMMARIES = (
    "This session is being continued from a previous conversation",
    "Another language model started to solve this problem",
    "You are performing a CONTEXT CHECKPOINT COMPACTION",
    "The conversation history before this point was compacted into the following summary",  # OpenClaw
    "The following is a summary of a branch that this conversation came back from",
    "[CONTEXT COMPACTION",  # Hermes
    "[PRIOR CONTEXT",
    "[Your active task list was preserved across context compression]",
    "<analysis>",
    "<summary>",
)


class DiskTranscripts:
    """``Transcripts`` in files. Memory is bounded by `LONGEST_PART` for files of any size."""

    def read(self, path: str, since: Cursor = BEGINNING) -> TranscriptPart:
        if "\0" in path or not Path(path).is_absolute() or not path.endswith(".jsonl"):
            raise InvalidInput(
                "INVALID_PATH", f"{path[:200]!r} is no transcript. Give the absolute path of a .jsonl file."
            )
        try:
            with open_regular_file(path) as file:
                size = os.fstat(file.fileno()).st_size
                if size > LARGEST:
                    raise SourceUnreadable(path, f"it has {size} bytes, {LARGEST} are the most")
                file.seek(max(0, since.offset - 1))
                is_same = not since.offset or file.read(1) == b"\n"  # else it was written again
                begin = _line_after(file, since if is_same else BEGINNING, size - LONGEST_PART)
                file.seek(begin.offset)
                lines = iter(lambda: file.readline(size - file.tell()), b"")
                return _collected(takewhile(lambda line: line.endswith(b"\n"), lines), begin, path)
        except OSError as error:
            raise SourceUnreadable(path, (error.strerror or str(error)).lower()) from error


def messages_in(lines: Iterable[bytes]) -> tuple[Sequence[TranscriptMessage], int]:
    """
    Return the messages on all *lines* of a transcript, without those of subagents, and the number of unreadable lines.

    A last line without an end is not counted, because it is written at this moment.
    """
    part = _collected(lines, BEGINNING, transcript="")
    return part.messages, part.bad_lines


def _line_after(file: BinaryIO, since: Cursor, start: int) -> Cursor:
    """Return the cursor of the first line that begins after the byte *start*, or of the end of the file."""
    if start <= since.offset:
        return since
    line = since.line
    file.seek(since.offset)
    while (left := start - file.tell()) > 0 and (chunk := file.read(min(_CHUNK, left))):
        line += chunk.count(b"\n")
    while (rest := file.readline(_CHUNK)) and not rest.endswith(b"\n"):
        pass
    return Cursor(line + bool(rest), file.tell(), since.turns)


def _collected(lines: Iterable[bytes], start: Cursor, transcript: str) -> TranscriptPart:
    """
    Return the messages on *lines* that the user did not take back; several lines with the same id become one message.

    A prompt in Claude Code names the line that it follows; it takes back what is between, if that has a prompt.
    """
    number, offset, unreadable = start.line, start.offset, 0
    messages: dict[tuple[bool, str], TranscriptMessage] = {}
    last, places = b"", dict[bytes, int]()  # numbers of messages up to each line
    for line in lines:
        places[last] = len(messages)
        names: dict[bytes, bytes] = dict(re.findall(rb'"(parentUuid|uuid)":\s*"([^"]+)"', line))
        last = names.get(b"uuid") or b""
        number += 1
        offset += len(line)
        try:
            if not line.strip():
                continue
            if b'"compacted"' in line[:200] and (summary := _codex_summary(line)):
                messages = {
                    key: message
                    for key, message in messages.items()
                    if message.speaker is Speaker.USER or not message.text or message.text not in summary
                }
                continue
            if b'"$rewindTo"' in line[:20] or b'"thread_rolled_back"' in line[:200]:
                messages = dict(islice(messages.items(), _return_of(line, [*messages.values()])))
                continue
            message, is_sidechain = message_of(line, number, transcript)
        except NotConversation:
            continue
        except ValueError:
            unreadable += line.endswith(b"\n")
            continue
        key = (is_sidechain, message.id)
        if message.speaker is Speaker.USER and not is_sidechain and key not in messages:
            place = places.get(names.get(b"parentUuid") or last, number)
            if any(other.speaker is Speaker.USER for other in islice(messages.values(), place, None)):
                messages = dict(islice(messages.items(), place))
        if first := messages.get(key):  # a line that a resumed session copied adds nothing
            text, files = first.text, tuple(dict.fromkeys((*first.files, *message.files)))
            if message.speaker is not Speaker.USER and message.text not in text.split("\n\n"):
                text = f"{text}\n\n{message.text}".strip()
            message = replace(first, text=text, files=files)
        messages[key] = message
    own, aside = (
        tuple(message for (is_aside, _), message in messages.items() if is_aside is wanted)
        for wanted in (False, True)
    )
    prompts = sum(message.speaker is Speaker.USER for message in own)
    return TranscriptPart(own, Cursor(number, offset, start.turns + prompts), aside, unreadable, start)


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
        entry = read_json(line)
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
    text = _INSERTED.sub("", message.text).strip()
    if (not text and not message.files) or text.startswith(_SUMMARIES):
        raise NotConversation
    return replace(message, text=text), entry.get("isSidechain") is True


def _claude_message(entry: Mapping[str, Any], number: int, transcript: str) -> TranscriptMessage:
    kind, message = entry.get("type"), entry.get("message")
    if kind not in ("user", "assistant") or entry.get("isMeta") or entry.get("isCompactSummary"):
        raise NotConversation
    if not isinstance(message, dict):
        raise ValueError("no message")  # noqa: TRY004  likewise
    content = message.get("content")
    blocks = _objects(content)
    texts = [_text(block, "text") for block in blocks if block.get("type") == "text"]
    return TranscriptMessage(
        _text(message, "id") or _text(entry, "uuid") or f"{transcript}:{number}",
        number,
        Speaker(kind),
        content if isinstance(content, str) else "\n\n".join(texts),
        _text(entry, "timestamp"),
        _touched((block for block in blocks if block.get("type") == "tool_use"), "input"),
        _text(entry, "promptId"),
    )


def _touched(calls: Iterable[Mapping[str, Any]], arguments: str) -> tuple[FileTouch, ...]:
    return tuple(
        FileTouch(path, _text(call, "name") in _WRITERS)
        for call in calls
        if _text(call, "name") in _WRITERS | _READERS
        if (path := _text(call.get(arguments), "file_path") or _text(call.get(arguments), "notebook_path"))
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
    texts = (
        _text(block, "text")
        for block in _objects(payload.get("content"))
        if block.get("type") in ("input_text", "output_text")
    )
    text = "\n\n".join(text for text in texts if text and not text.startswith("# AGENTS.md instructions"))
    prompt = _text(payload.get("internal_chat_message_metadata_passthrough"), "turn_id")
    return TranscriptMessage(name, number, Speaker(payload["role"]), text, at, prompt_id=prompt)


def _codex_summary(line: bytes) -> str:
    """Return what Codex keeps at a compaction, with the summary, which was the assistant's last message; else empty."""
    entry = read_json(line)
    if not isinstance(entry, dict) or entry.get("type") != "compacted":
        return ""
    payload = entry.get("payload")
    history = _objects(payload.get("replacement_history") if isinstance(payload, dict) else None)
    blocks = (block for message in history for block in _objects(message.get("content")))
    return "\n\n".join([_text(payload, "message"), *(_text(block, "text") for block in blocks)])


def _return_of(line: bytes, messages: Sequence[TranscriptMessage]) -> int:
    """Return the number of *messages* before those that the user takes back on this line of Gemini CLI or Codex."""
    turns = re.search(rb'"num_turns":\s*([1-9]\d{0,5})', line)
    if turns:
        prompts = (place for place, message in enumerate(messages) if message.speaker is Speaker.USER)
        return [0, *prompts][-int(turns[1]) :][0]
    name = _text(read_json(line), "$rewindTo")
    return next((place for place, message in enumerate(messages) if message.id == name), len(messages))


def _gemini_message(entry: Mapping[str, Any], number: int, transcript: str) -> TranscriptMessage:
    """Return the message of a line of Gemini CLI. A later line with the same id replaces the message."""
    content = entry.get("content")
    texts = [content] if isinstance(content, str) else [_text(block, "text") for block in _objects(content)]
    return TranscriptMessage(
        _text(entry, "id") or f"{transcript}:{number}",
        number,
        Speaker.USER if entry["type"] == "user" else Speaker.ASSISTANT,
        "\n\n".join(filter(None, texts)),
        _text(entry, "timestamp"),
        _touched(_objects(entry.get("toolCalls")), "args"),
    )


def _objects(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _text(record: object, key: str) -> str:
    value = record.get(key) if isinstance(record, dict) else None
    return value if isinstance(value, str) else ""
