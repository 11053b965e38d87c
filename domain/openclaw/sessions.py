"""Text of a session as a memory file, and the growth after which it is read again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from clawmem.domain.openclaw.flush import NO_REPLY
from clawmem.domain.openclaw.session_notes import SpokenMessage

DELTA_BYTES = 100_000
DELTA_MESSAGES = 50

_NAMES = {"user": "User", "assistant": "Assistant"}


class SessionSize(NamedTuple):
    """Size of a transcript."""

    size_bytes: int
    messages: int


def is_session_due(indexed: SessionSize | None, current: SessionSize) -> bool:
    """Return whether to read a session: a new one, one that was shortened, or one that grew by 100 000 bytes or 50 messages."""
    if indexed is None:
        return current.messages > 0
    grown_bytes = current.size_bytes - indexed.size_bytes
    grown = current.messages - indexed.messages
    return grown_bytes < 0 or grown_bytes >= DELTA_BYTES or grown >= DELTA_MESSAGES


def session_text(messages: Sequence[SpokenMessage]) -> str:
    """Return one line for each message of the user and the assistant, without silent replies."""
    lines = [
        f"{_NAMES[one.role]}: {said}"
        for one in messages
        if one.role in _NAMES and (said := " ".join(one.text.split()))
    ]
    silent = f"{_NAMES['assistant']}: {NO_REPLY}"
    return "".join(f"{line}\n" for line in lines if not line.startswith(silent))
