"""Filters and boosts of candidates: hidden texts, the topic of a session, and spreading activation."""

import re
from collections.abc import Callable, Mapping
from itertools import islice
from typing import TypeVar

from clawmem.domain.surfacing.packing import HOT_ABOVE
from clawmem.domain.text.words import fold

PRIVATE = ("_PRIVATE/", "experiments/")
MACHINE_MADE = "_clawmem/"
# Machine-written notes are mostly about the assistant's own work and stay hidden. These types are exceptions: decisions
# and preferences of the user, and problems with their causes, which need not be investigated again.
SETTLED = frozenset({"decision", "preference", "antipattern", "problem"})

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
    Whether a document is in a private folder, or machine-written and of another type than `SETTLED`.

    A folder ``_clawmem`` within a collection has notes that the user saved.
    """
    return (display_path.startswith(MACHINE_MADE) and content_type not in SETTLED) or is_private(display_path)


def is_noise(text: str) -> bool:
    """Whether a text has no content: it is too short, or an assistant states in it that it knows nothing."""
    return len(text.strip()) < 10 or _DENIAL.search(text) is not None


MOST_TOPIC = 256  # characters
READ = 800  # characters of a body

MATCH = 1.4  # factor for the score of a text on the topic
OTHER = 0.75  # of the others


def read_topic(text: str) -> str:
    """Return the topic in *text*, stripped; empty if it is too long or holds a NUL character."""
    topic = text.strip()
    return topic if len(topic) <= MOST_TOPIC and "\0" not in topic else ""


def is_on_topic(topic: str, title: str, path: str, body: str) -> bool:
    """
    Whether *title*, *path* and the beginning of *body* hold all words of *topic* with two or more characters.

    False without such words.
    """
    tokens = [token for token in fold(topic).split() if len(token) >= 2]
    text = fold(f"{title} {path} {body[:READ]}")
    return bool(tokens) and all(token in text for token in tokens)


Key = TypeVar("Key", int, str)

SOURCES, PARTNERS = 3, 3  # answers from the top that spread activation, and partners of each


def activation(scores: Mapping[Key, float], partners: Callable[[Key], Mapping[Key, int]]) -> dict[Key, float]:
    """
    Return the score gain of each answer by spreading activation: documents used together with the best ones gain.

    Each of the first `SOURCES` answers that scores more than 0.8 spreads to its first `PARTNERS`. A partner that is
    itself an answer and scores 0.8 or less gains ``min(0.2, 0.1 · times)`` from each such source.

    Args:
        scores: Scores of the answers, best first.
        partners: Returns the items used together with an answer and how often, most frequent first.
    """
    gains = dict.fromkeys(scores, 0.0)
    for source in islice(scores, SOURCES if len(scores) > SOURCES else 0):
        uses = partners(source) if scores[source] > HOT_ABOVE else {}
        for partner, times in islice(uses.items(), PARTNERS):
            if scores.get(partner, 1.0) <= HOT_ABOVE:
                gains[partner] += min(0.2, 0.1 * times)
    return gains
