from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from clawmem.adapters.files.regular import open_regular_file
from clawmem.adapters.files.transcript_lines import NotConversation, message_of
from clawmem.ports.captures import Cursor
from clawmem.ports.errors import InvalidInput, SourceUnreadable
from clawmem.ports.transcripts import BEGINNING, Speaker, TranscriptMessage, TranscriptPart, turns

LARGEST = 1 << 30  # bytes; a larger file is not a transcript
# bytes after the cursor that are read in full; if there are more, only the end is read
WHOLE_UP_TO = 10 << 20
FIRST_TAIL = 2 << 20
TAILS = 5  # attempts, each with twice the length of the one before
_CHUNK = 1 << 20


class DiskTranscripts:
    """
    ``Transcripts`` in files of Claude Code, Codex and Gemini CLI. Memory is bounded by the longest tail, 32 MB, for files of any
    size.
    """

    def read(self, path: str, since: Cursor = BEGINNING, *, enough: int = 4) -> TranscriptPart:
        _check(path)
        try:
            with open_regular_file(path) as file:
                size = _size(file, path)
                start = since if since.offset <= size else BEGINNING
                if size - start.offset <= WHOLE_UP_TO:
                    return _part(file, path, start, size)
                return _tail(file, path, start, size, enough)
        except OSError as error:
            raise SourceUnreadable(path, (error.strerror or str(error)).lower()) from error


def _check(path: str) -> None:
    if "\0" in path or not Path(path).is_absolute() or not path.endswith(".jsonl"):
        raise InvalidInput(
            "INVALID_PATH", f"{path[:200]!r} is no transcript. Give the absolute path of a .jsonl file."
        )


def _size(file: BinaryIO, path: str) -> int:
    found = os.fstat(file.fileno())
    if found.st_size > LARGEST:
        raise SourceUnreadable(path, f"it has {found.st_size} bytes, {LARGEST} are the most")
    return found.st_size


def _tail(file: BinaryIO, path: str, since: Cursor, size: int, enough: int) -> TranscriptPart:
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
    reading = _MessageCollector(path, start)
    for line in _whole_lines(file, start.offset, size):
        reading.take(line)
    return reading.part()


def messages_in(lines: Iterable[bytes]) -> tuple[Sequence[TranscriptMessage], int]:
    """
    Return the messages on all *lines* of a transcript, without those of subagents, and the number of unreadable lines.

    A last line without an end is not counted, because it is written at this moment.
    """
    reading = _MessageCollector("", BEGINNING)
    for line in lines:
        reading.take(line)
    part = reading.part()
    return part.messages, part.bad_lines


def _whole_lines(file: BinaryIO, start: int, size: int) -> Iterator[bytes]:
    file.seek(start)
    while (left := size - file.tell()) > 0:
        line = file.readline(left)
        if not line.endswith(b"\n"):
            return
        yield line


class _MessageCollector:
    """Collector of messages; several lines with the same id become one message."""

    def __init__(self, path: str, start: Cursor) -> None:
        self._path = path
        self._turns = start.turns
        self._line = start.line
        self._offset = start.offset
        self._bad = 0
        self._messages: dict[tuple[bool, str], TranscriptMessage] = {}

    def take(self, line: bytes) -> None:
        self._line += 1
        self._offset += len(line)
        if not line.strip():
            return
        try:
            message, is_sidechain = message_of(line, self._line, self._path)
        except NotConversation:
            return
        except ValueError:
            self._bad += line.endswith(b"\n")
            return
        key = (is_sidechain, message.id)
        known = self._messages.get(key)
        self._messages[key] = _joined(known, message) if known else message

    def part(self) -> TranscriptPart:
        said, aside = (
            tuple(found for (is_sidechain, _), found in self._messages.items() if is_sidechain is wanted)
            for wanted in (False, True)
        )
        end = Cursor(self._line, self._offset, self._turns + turns(said))
        return TranscriptPart(said, end, aside, self._bad)


def _joined(first: TranscriptMessage, second: TranscriptMessage) -> TranscriptMessage:
    """Merge another line of the same message. A line that a resumed session copied adds nothing."""
    if second.speaker is Speaker.USER or second.text in first.text.split("\n\n"):
        text = first.text
    else:
        text = f"{first.text}\n\n{second.text}".strip()
    files = dict.fromkeys((*first.files, *second.files))
    return replace(first, text=text, files=tuple(files))
