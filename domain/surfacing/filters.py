"""Filters and boosts of candidates: hidden texts, the topic of a session, and spreading activation."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeVar

from clawmem.domain.surfacing.packing import HOT_ABOVE
from clawmem.ports.sessions import session_key

PRIVATE = ("_PRIVATE/", "experiments/")
MACHINE_MADE = "_clawmem/"
# Machine-written notes are mostly about the assistant's own work and stay hidden. These types are exceptions: decisions
# and preferences of the user, and problems with their causes, which need not be investigated again.
SETTLED = frozenset({"decision", "preference", "antipattern", "problem"})
LEAST_TEXT = 10  # characters

# Statements of an assistant that it knows nothing: once stored, they would be repeated in every later session.
_DENIAL = re.compile(
    r"(?:don't|do not) have any (?:information|data|memory|memories|records?)|\bnot sure about\b"
    r"|(?:don't|do not) (?:recall|remember)\b|no relevant memories found|(?:don't|do not) have access to",
    re.IGNORECASE,
)


def is_private(display_path: str) -> bool:
    """Whether a document is in a folder that the user excluded from surfacing."""
    return any(part in display_path for part in PRIVATE)


def is_hidden(display_path: str, content_type: str) -> bool:
    """
    Whether a document is in a private folder or machine-written; machine-written documents of `SETTLED` types are not
    hidden.

    A folder ``_clawmem`` within a collection has notes that the user saved.
    """
    if is_private(display_path):
        return True
    return display_path.startswith(MACHINE_MADE) and content_type not in SETTLED


def is_noise(text: str) -> bool:
    """Whether a text has no content: it is too short, or an assistant states in it that it knows nothing."""
    return len(text.strip()) < LEAST_TEXT or _DENIAL.search(text) is not None


MOST_TOPIC = 256  # characters
LEAST_TOKEN = 2
READ = 800  # characters of a body

MATCH = 1.4
OTHER = 0.75
LEAST_FACTOR = 0.5


def read_topic(text: str) -> str:
    """Return the topic in *text*, stripped; empty if it is too long or holds a NUL character."""
    topic = text.strip()
    return topic if len(topic) <= MOST_TOPIC and "\0" not in topic else ""


def topic_tokens(topic: str) -> tuple[str, ...]:
    """Return the lower-case words of *topic* with two or more characters; a document on the topic holds all of them."""
    return tuple(token for token in topic.lower().split() if len(token) >= LEAST_TOKEN)


def is_on_topic(tokens: tuple[str, ...], title: str, path: str, body: str) -> bool:
    """Whether *title*, *path* and the beginning of *body* hold all *tokens*; false without tokens."""
    text = f"{title} {path} {body[:READ]}".lower()
    return bool(tokens) and all(token in text for token in tokens)


def focus_factor(on_topic: bool, strength: float = OTHER) -> float:
    """Return the factor for a score: 1.4 on the topic, else *strength*, but at least 0.5."""
    return MATCH if on_topic else max(LEAST_FACTOR, strength)


def topic_file(session_id: str) -> str:
    """Return the name of a session's topic file."""
    return f"{session_key(session_id)}.focus"


Key = TypeVar("Key", int, str)
Partners = Callable[[Key], Sequence[tuple[Key, int]]]

FEWEST = 4  # answers: up to three are all shown, so their order does not matter
SOURCES = 3  # answers from the top that spread activation
PARTNERS = 3  # partners of each source, the most frequent first
STEP, MOST_GAIN = 0.1, 0.2  # gain per joint use, and maximum gain from one source


def activation(ranked: Sequence[tuple[Key, float]], partners: Partners[Key]) -> dict[Key, float]:
    """
    Return the score gain of each answer by spreading activation: documents used together with the best ones gain.

    Each of the first `SOURCES` answers that scores more than 0.8 spreads to its first `PARTNERS`. A partner that is
    itself an answer and scores 0.8 or less gains ``min(0.2, 0.1 · times)`` from each such source.

    Args:
        ranked: Answers with their scores, best first.
        partners: Returns the items used together with an answer and how often, most frequent first.
    """
    scores, gains = dict(ranked), dict.fromkeys((key for key, _ in ranked), 0.0)
    if len(ranked) < FEWEST:
        return gains
    for source, score in ranked[:SOURCES]:
        for partner, times in partners(source)[:PARTNERS] if score > HOT_ABOVE else ():
            if scores.get(partner, 1.0) <= HOT_ABOVE:
                gains[partner] += min(MOST_GAIN, STEP * times)
    return gains
