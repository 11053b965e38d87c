from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol

from clawmem.ports.captures import Cursor

BEGINNING = Cursor()


class Speaker(StrEnum):
    """Who said something in a conversation. What tools answer is said by nobody."""

    USER = "user"
    ASSISTANT = "assistant"


class FileTouch(NamedTuple):
    """A file that a tool was used on, and whether it was written."""

    path: str
    is_written: bool


@dataclass(frozen=True, slots=True)
class TranscriptMessage:
    """
    One message as a person would count them, however many lines hold it.

    ``text`` is prose without thoughts, tool calls and what the client put around it. ``line`` is the line on
    which it begins, ``at`` its time as it is written there. An assistant's message may only touch files. ``prompt_id`` is the client's name of
    the prompt that a message is, or belongs to; empty where the client writes none.
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
    What was read of a transcript: whole messages in order, up to ``end``.

    ``sidechains`` are the messages of subagents. ``bad_lines`` could not be read and were left out.
    ``is_tail`` says that there was too much: what lies before the first of the messages was skipped, and the
    prompts in it are not counted in ``end``.
    """

    messages: tuple[TranscriptMessage, ...]
    end: Cursor
    sidechains: tuple[TranscriptMessage, ...] = ()
    bad_lines: int = 0
    is_tail: bool = False


class Transcripts(Protocol):
    """Conversations that an agent's client has written down."""

    def read(self, path: str, since: Cursor = BEGINNING, *, enough: int = 4) -> TranscriptPart:
        """
        What stands in the transcript at *path* after *since*.

        A last line without its line break is still being written and belongs to the next call. A transcript
        that ends before *since* was made anew and is read from its beginning. Of one with more than 10 MB to
        read the last 2 MB are read, or twice as much up to four times, until there are *enough* messages.

        Raises:
            InvalidInput: the path is not absolute or does not end in ``.jsonl``.
            SourceUnreadable: it is not there, not a file, or larger than 1 GB.
        """
        ...


def turns(messages: Sequence[TranscriptMessage]) -> int:
    """How many prompts there are among *messages*."""
    return sum(message.speaker is Speaker.USER for message in messages)
