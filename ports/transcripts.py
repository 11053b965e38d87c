from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol

from clawmem.ports.sessions import Cursor

BEGINNING = Cursor()


class Speaker(StrEnum):
    """Speaker of a message. The output of a tool has no speaker."""

    USER = "user"
    ASSISTANT = "assistant"


class FileTouch(NamedTuple):
    """File that a tool accessed, and whether it was written."""

    path: str
    is_written: bool


@dataclass(frozen=True, slots=True)
class TranscriptMessage:
    """
    One message as a user would count it, even if it spans several lines of the transcript.

    ``text`` is prose without reasoning, tool calls and text added by the client. ``line`` is the line on which the
    message begins, ``at`` its time as recorded. An assistant's message may consist of file accesses only.
    ``prompt_id`` is the client's identifier of the prompt that the message is or belongs to, if the client records one.
    """

    id: str
    line: int
    speaker: Speaker
    text: str
    at: str = ""
    files: tuple[FileTouch, ...] = ()
    prompt_id: str = ""


@dataclass(frozen=True, slots=True)
class TranscriptPart:
    """
    Part of a transcript that was read: complete messages in order, up to ``end``.

    ``sidechains`` are the messages of subagents. ``bad_lines`` counts lines that could not be parsed and were skipped.
    ``is_tail`` is set if the transcript was too long: everything before the first message was skipped, and its prompts
    are not counted in ``end``.
    """

    messages: tuple[TranscriptMessage, ...]
    end: Cursor
    sidechains: tuple[TranscriptMessage, ...] = ()
    bad_lines: int = 0
    is_tail: bool = False


class Transcripts(Protocol):
    """Reader of conversations recorded by an agent's client."""

    def read(self, path: str, since: Cursor = BEGINNING, *, enough: int = 4) -> TranscriptPart:
        """
        Read the transcript at *path* after *since*.

        A last line without a line break is left to the next call. A transcript that ends before *since* was rewritten
        and is read from its beginning. If more than 10 MB are unread, only the last 2 MB are read; this window is
        doubled up to four times until it contains *enough* messages. Raises InvalidInput for a path that is not
        absolute or no ``.jsonl``, and SourceUnreadable for a missing file, or one larger than 1 GB.
        """
