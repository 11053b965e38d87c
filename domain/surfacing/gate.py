"""
Gate that decides for which prompts no retrieval is run.

The gate errs towards retrieval: a skipped question is lost, an unnecessary retrieval costs a moment. Commands,
greetings and heartbeats therefore count only in short messages that ask nothing, words are compared as whole words
("mapping" does not match "ping"), and a prompt that asks for a memory is never skipped. Length alone is no reason to
skip: an identifier or an error code is short and is an excellent query.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum

from clawmem.domain.security.patterns import AnyCase, Pattern

MOST_PROMPT = 10_000  # characters that are read of a prompt
LEAST_PROMPT = 2  # characters; a single character names nothing
_OPENING = (
    12  # characters in which a question without a question mark names its question word: "and since when"
)
MOST_BRIEF = 40  # characters; a longer message may hold more than a greeting or a command


class Skip(StrEnum):
    """Reason why no retrieval is run."""

    EMPTY = "empty"
    SLASH = "slash command"
    HEARTBEAT = "heartbeat"
    SHORT = "too short"
    SMALL_TALK = "small talk"
    GREETING = "greeting"
    COMMAND = "command"
    AFFIRMATION = "affirmation"
    CONTINUATION = "continuation"
    EMOJI = "nothing but signs"
    PROBE = "probe"
    REPEATED = "asked a moment ago"


HEARTBEATS = (
    "heartbeat",
    "health check",
    "keepalive",
    "keep-alive",
    "status check",
    "are you alive",
    "still alive",
    "ping",
    "pong",
)
_ENDS = ".!?"
_WHOLE = {
    Skip.AFFIRMATION: (
        "yes|no|yep|nope|ok|okay|sure|fine|thanks|thank you|thx|ty|got it|understood|cool|nice|great|good"
        "|perfect|awesome"
    ).split("|"),
    Skip.CONTINUATION: "go ahead|continue|proceed|do it|start|begin|next".split("|"),
    Skip.PROBE: "ping|pong|test|debug".split("|"),
}
_BEGINNING = {
    Skip.GREETING: (
        "hi|hello|hey|good morning|good afternoon|good evening|good night|greetings|yo|sup|howdy|what's up"
    ).split("|"),
    Skip.COMMAND: ("run|build|ls|cd|git|npm|pip|docker|curl|sudo|bun|node|deno").split("|"),
}
# A statement of only these words needs no retrieval: "looks good", "one more time", "let's go with the second one".
_SMALL_WORDS = frozenset(
    """
    a about actually again agreed ahead all also am an and another any anyway are as at away back be because been begin
    better bit both but by bye can carry cheers come continue cool correct could course did do does done dont enough even
    every everybody everyone everything evening exactly excellent exit fair few final finally fine finish first for from
    fully get give go goes going gone good great had has have hello here hey hi hm hmm how i idea if in instead into is it its
    just keep kind know last later least less let lets like little ll lol long look looking looks lot lovely m made make makes
    many maybe me mean meant mind minute moment more morning most move much my need never new next nice night no nope
    not nothing now of off ok okay on once one ones only or other our out over pause perfect please proceed put quick quit quite
    rather re ready really rest right s same say second see seems ship should similar simple simply so some something sorry
    sounds start still stop such suggestion sure t take tell than thank thanks that the their them then there these they
    thing things think third this those though thought three through thx time times to today together too tonight too true
    try ty two understood until up us use ve very wait want was way we welcome well were what when which while will wish with
    without wonderful work worked working works would wow wrong yeah yep yes yet you your
    """.split()
)
# Compiling these patterns takes milliseconds in total, so each prompt uses as few of them as possible.
_MEMORY = AnyCase(
    r"(?<!\w)(?:remember|recall|forgot|memory|memories|last time|before|previously|earlier|yesterday|ago"
    r"|my (?:name|email|phone|address|birthday|preference)s?|what did (?:i|we)|did i (?:tell|say|mention))(?!\w)"
)
_ASKS = AnyCase(r"(?<!\w)(?:why|what|when|where|who|whom|whose|which|how)(?!\w)", "wh|how")
_HEARTBEAT = AnyCase(rf"(?<!\w)(?:{'|'.join(map(re.escape, HEARTBEATS))})(?!\w)", "|".join(HEARTBEATS))

# Prefixes that a gateway adds to a message: timestamp, name of the cron job, sender metadata.
_PREFIX = Pattern(
    r"\A\s*(?:\[(?:cron:|[^\]\n]*\d{1,2}:\d{2})[^\]\n]*\]"
    r"|[A-Z][\w ]{0,40}\(untrusted metadata\):\s*```(?:json)?\n.*?\n```"
    r"|System:[^\n]*\n)",
    needs="[|(untrusted metadata):|System:",
    flags=re.DOTALL,
)
_APART = str.maketrans(dict.fromkeys("'’.,;:!?-()\"", " "))
_SLASH = Pattern(r"/[\w:-]*(?:\s|$)")  # a path has a second slash


def without_prefixes(prompt: str) -> str:
    """Return at most `MOST_PROMPT` characters of *prompt*, stripped and without the prefixes of a gateway."""
    text = prompt[:MOST_PROMPT]
    while _PREFIX.may_match(text) and (found := _PREFIX.compiled.match(text)):
        text = text[found.end() :]
    return text.strip()


def why_skip(prompt: str, *, heartbeats: Sequence[str] = (), with_heartbeats: bool = False) -> Skip | None:
    """
    Return the reason to skip retrieval for *prompt*; ``None`` to run it.

    Args:
        heartbeats: Additional heartbeat phrases, which count in messages of any length.
        with_heartbeats: Whether retrieval is also run for heartbeats.
    """
    text = without_prefixes(prompt)
    if not text:
        return Skip.EMPTY
    if text.startswith("/") and _SLASH.compiled.match(text):
        return Skip.SLASH
    if not with_heartbeats and is_heartbeat(text, heartbeats):
        return Skip.HEARTBEAT
    reason = _said(text) or _short(text)
    return None if reason and asks_for_memory(text) else reason


def is_heartbeat(text: str, further: Sequence[str] = ()) -> bool:
    """Whether *text* is a liveness check: a brief message with a heartbeat phrase, or any with one of *further*."""
    if any(word.strip().lower() in text.lower() for word in further if word.strip()):
        return True
    return _HEARTBEAT.search(text) is not None and (_is_brief(text) or _is_whole(text, HEARTBEATS))


def asks_for_memory(text: str) -> bool:
    """Whether *text* refers to the past or to memories; such a prompt is never skipped."""
    return _MEMORY.search(text) is not None


def _said(text: str) -> Skip | None:
    if not any(character.isalnum() for character in text):
        return Skip.EMOJI
    whole = (reason for reason, these in _WHOLE.items() if _is_whole(text, these))
    begun = (reason for reason, these in _BEGINNING.items() if _begins(text, these))
    return next(whole, None) or (next(begun, None) if _is_brief(text) else None)


def _short(text: str) -> Skip | None:
    if len(text) < LEAST_PROMPT:
        return Skip.SHORT
    return Skip.SMALL_TALK if "?" not in text and not _opens_question(text) and _is_small_talk(text) else None


def _opens_question(text: str) -> bool:
    found = _ASKS.search(text[:_OPENING])
    return found is not None


def _is_small_talk(text: str) -> bool:
    """Whether *text* is ASCII and consists only of `_SMALL_WORDS`."""
    plain = text.lower().translate(_APART)
    return text.isascii() and _SMALL_WORDS.issuperset(plain.split())


def _is_brief(text: str) -> bool:
    return len(text) <= MOST_BRIEF and not _asks(text)


def _asks(text: str) -> bool:
    return "?" in text or "？" in text or _ASKS.search(text) is not None


def _is_whole(text: str, these: Sequence[str]) -> bool:
    bare = text.lower().rstrip()
    while bare.endswith(tuple(_ENDS)):
        bare = bare.rstrip(_ENDS).rstrip()
    return bare in these


def _begins(text: str, these: Sequence[str]) -> bool:
    lower = text.lower()
    return any(lower.startswith(one) and not _goes_on(lower, len(one)) for one in these)


def _goes_on(text: str, end: int) -> bool:
    """Whether the word that ends at *end* continues after it."""
    following = text[end : end + 1]
    return following.isalnum() or following == "_"
