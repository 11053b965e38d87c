"""
The prompts for which nothing is retrieved, and the query of a prompt that needs the prompts before it.

The gate errs towards retrieval: a skipped question is lost, an unnecessary retrieval costs a moment. Length is no
reason to skip: an identifier or an error code is short and is an excellent query.
"""

import re
from collections.abc import Sequence
from enum import StrEnum

from clawmem.domain.text.vocabulary import function_words
from clawmem.domain.text.words import is_picture, words

MOST_PROMPT = 10_000  # characters that are read of a prompt
LOOK_BACK = 2  # questions
MOST_CHARS = 2000


class Skip(StrEnum):
    """Reason why no retrieval is run."""

    EMPTY = "empty"
    SLASH = "slash command"
    HEARTBEAT = "heartbeat"
    AFFIRMATION = "affirmation"


HEARTBEATS = (
    *("heartbeat", "health check", "keepalive", "keep-alive", "status check"),
    *("are you alive", "still alive", "ping", "pong"),
)
AFFIRMATIONS = frozenset(
    """
    yes no yep yeah nope ok okay sure fine thanks thank you thx ty got it understood cool nice great good perfect awesome
    go ahead continue proceed do start begin next please that sounds looks one more time try again it this everyone all hi hello hey morning evening bye
    ja nein danke bitte gut weiter genau hallo moin guten morgen tag abend oui non merci sí gracias vale sim não obrigado obrigada grazie bene
    """.split()
)
_HEARTBEAT = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, HEARTBEATS))})(?!\w)", re.IGNORECASE)
# Prefixes that a gateway adds to a message: timestamp, name of the cron job, sender metadata.
_PREFIX = re.compile(
    r"\A\s*(?:\[(?:cron:|[^\]\n]*\d{1,2}:\d{2})[^\]\n]*\]"
    r"|[A-Z][\w ]{0,40}\(untrusted metadata\):\s*```(?:json)?\n.*?\n```"
    r"|System:[^\n]*\n)",
    re.DOTALL,
)
_SLASH = re.compile(r"/[\w:-]*(?:\s|$)")  # a path has a second slash


def without_prefixes(prompt: str) -> str:
    """Return at most `MOST_PROMPT` characters of *prompt*, stripped and without the prefixes of a gateway."""
    text = prompt[:MOST_PROMPT]
    while prefix := _PREFIX.match(text):
        text = text[prefix.end() :]
    return text.strip()


def why_skip(prompt: str, *, heartbeats: Sequence[str] = (), with_heartbeats: bool = False) -> Skip | None:
    """
    Return the reason to skip retrieval for *prompt*; ``None`` to run it.

    A heartbeat is a short message with a phrase of `HEARTBEATS`, unless it asks for more. An affirmation has at most
    three words.

    Args:
        heartbeats: Additional heartbeat phrases, which count in messages of any length.
        with_heartbeats: Whether retrieval is also run for heartbeats.
    """
    text = without_prefixes(prompt)
    spoken = [word for word in words(text) if not is_picture(word)]
    if not spoken:
        return Skip.EMPTY
    if _SLASH.match(text):
        return Skip.SLASH
    if not with_heartbeats:
        is_bare = text.lower().rstrip(".!?") in HEARTBEATS
        is_brief = len(text) <= 40 and "?" not in text and _HEARTBEAT.search(text) is not None
        if (
            is_bare
            or is_brief
            or any(sign.strip().lower() in text.lower() for sign in heartbeats if sign.strip())
        ):
            return Skip.HEARTBEAT
    is_affirmed = len(spoken) <= 3 and "?" not in text and AFFIRMATIONS.issuperset(spoken)
    return Skip.AFFIRMATION if is_affirmed else None


def needs_earlier(prompt: str) -> bool:
    """Whether *prompt* has too few content words to say what it is about: "why was it changed?"."""
    spoken = words(prompt)
    return len(set(spoken) - function_words(spoken)) < 2


def looking_back(current: str, before: Sequence[str]) -> str:
    """
    Return *current* and up to `LOOK_BACK` earlier questions, separated by blank lines.

    Whole questions are dropped, the oldest first, until at most `MOST_CHARS` characters are left; a longer *current* is
    truncated. Empty questions and those equal to *current* are ignored.

    Args:
        before: Earlier questions, newest first.
    """
    if not current.strip():
        return current
    others = [text for text in before if text.strip() and text != current][:LOOK_BACK]
    while others and len("\n\n".join([current, *others])) > MOST_CHARS:
        others.pop()
    return "\n\n".join([current, *others])[:MOST_CHARS]
