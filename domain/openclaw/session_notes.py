"""Name of the note that a session leaves in the workspace: ``memory/YYYY-MM-DD-SLUG.md``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from clawmem.domain.documents.times import iso_utc
from clawmem.domain.openclaw.flush import NO_REPLY
from clawmem.domain.text.vocabulary import STOP_WORDS
from clawmem.domain.text.words import words
from clawmem.ports.imports import AgentMessage

FOLDER = "memory"
LAST_MESSAGES = 15
MOST_SLUG = 40  # characters
SLUG_WORDS = 3
LEAST_LETTERS = 4  # of a word that names a session by itself


def session_path(at_ms: int, slug: str) -> str:
    """Return the path of a session's note, ``memory/<YYYY-MM-DD>-<slug>.md`` in UTC; ``HHMM`` without a slug."""
    moment = iso_utc(at_ms)
    return f"{FOLDER}/{moment[:10]}-{as_slug(slug) or moment[11:16].replace(':', '')}.md"


def as_slug(text: str) -> str:
    """Return the words of *text* in lower case with hyphens between, 40 characters at most; it names no folder."""
    slug = ""
    for word in words(text):
        longer = f"{slug}-{word}" if slug else word[:MOST_SLUG]
        if len(longer) > MOST_SLUG:
            break
        slug = longer
    return slug


def topic_slug(messages: Sequence[AgentMessage]) -> str:
    """
    Return a slug of the three words that the last 15 messages of the user and the assistant use most often.

    Function words, numbers and short words do not count; of equally frequent words the first one counts. Returns an
    empty string if no word occurs twice, because a word that was said once is no topic.
    """
    said = [message for message in messages if message.role in ("user", "assistant") and message.text.strip()]
    counts = Counter(
        word
        for message in said[-LAST_MESSAGES:]
        for word in words(message.text)
        if len(word) >= LEAST_LETTERS and word not in STOP_WORDS and not word.isdigit()
    )
    often = [word for word, count in counts.most_common(SLUG_WORDS) if count > 1]
    return as_slug(" ".join(often))


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


def session_text(messages: Sequence[AgentMessage]) -> str:
    """Return one line for each message of the user and the assistant, without silent replies."""
    lines = [
        f"{_NAMES[message.role]}: {said}"
        for message in messages
        if message.role in _NAMES and (said := " ".join(message.text.split()))
    ]
    silent = f"{_NAMES['assistant']}: {NO_REPLY}"
    return "".join(f"{line}\n" for line in lines if not line.startswith(silent))
