"""Cleaning of imported messages: text that can be stored, and a plausible time for each message."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from clawmem.domain.documents.times import DAY_MS, parse_iso
from clawmem.ports.imports import ImportedMessage, RawTime
from clawmem.ports.sessions import Speaker

MAX_MESSAGE = 500_000  # characters, the limit of the splitter
EARLIEST_MS = 315_532_800_000  # 1980: an earlier time is a missing one
AHEAD_MS = DAY_MS  # clocks and time zones differ; a later time is wrong

# "Assistant:" before an imperative is the form of an order to the reader, and such text of others is left out.
ROLES = {Speaker.USER: "User", Speaker.ASSISTANT: "Agent"}

_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufeff]")
_NOT_IN_NAME = re.compile(r"[\s*:_`#<>\[\]]+")
_MICRO, _MILLI = 1e14, 1e11  # a number above it counts microseconds, milliseconds


class CleanMessage(NamedTuple):
    """A message to be stored: who said it, what, and when in milliseconds."""

    id: str
    speaker: str
    text: str
    at_ms: int
    is_prompt: bool | None  # None between people
    is_timed: bool = False  # whether it, or one before it, has a time of its own


def clean_messages(
    messages: Iterable[ImportedMessage], started: RawTime, *, now_ms: int
) -> Iterator[CleanMessage]:
    """
    Yield the messages that have text.

    A message without a plausible time has that of the message before; the first one that of the conversation's start,
    or now.
    """
    before, is_timed = time_ms(started, now_ms) or now_ms, False
    for message in messages:
        at = time_ms(message.at, now_ms)
        before, is_timed = (before, is_timed) if at is None else (at, True)
        text = clean_text(message.text)
        if text:
            is_prompt = None if message.role is None else message.role is Speaker.USER
            name = (
                _NOT_IN_NAME.sub(" ", clean_text(message.name[:200])).strip()[:40].strip()
            )  # as `units.TURN` reads
            speaker = name or (ROLES[message.role] if message.role else "Someone")
            yield CleanMessage(message.id, speaker, text, before, is_prompt, is_timed)


def clean_text(text: str) -> str:
    """Return *text* with LF line ends, without characters that cannot be stored, cut to `MAX_MESSAGE` characters."""
    if len(text) > MAX_MESSAGE:
        text = f"{text[:MAX_MESSAGE]}\n[cut: {len(text) - MAX_MESSAGE} more characters]"
    return _UNPRINTABLE.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).strip()


def time_ms(at: RawTime, now_ms: int) -> int | None:
    """Return a recorded time in milliseconds since the epoch; ``None`` if it is missing, before 1980 or in the future."""
    if isinstance(at, str):
        ms = None
        with suppress(ValueError, OverflowError):
            ms = parse_iso(at) if "-" in at else int(float(at) * 1000)
    elif isinstance(at, (int, float)) and abs(at) < 1e18:  # infinity and nan are not
        ms = int(at / 1000 if at > _MICRO else at if at > _MILLI else at * 1000)
    else:
        ms = None
    return ms if ms is not None and EARLIEST_MS <= ms <= now_ms + AHEAD_MS else None
