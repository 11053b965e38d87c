"""Which things a prompt may speak of, and what is known of them as lines."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from clawmem.domain.documents.tokens import words

MOST_NAMES = 500  # that are looked up together
MOST_ENTITIES = 100
TRIPLES_EACH = 10
LONGEST_NAME = 3  # words

_ID = re.compile(r"(?<![\w:])[a-z][\w-]*:[a-z_]+:[\w.-]*\w")
_NAME = re.compile(r"\b(?:[A-Z][a-z]+(?:[A-Z][a-z]*)*|[A-Z]{2,}[A-Z0-9]*)(?:\s+(?:[A-Z][a-z]+|[A-Z]{2,}))*\b")


class Seeds(NamedTuple):
    """
    What in a prompt may name an entity, in three stages, each in the order in which it is to be tried.

    ``ids`` must exist as they are; ``names`` are written like names; ``grams`` are all runs of up to three
    words, longer ones first. A name counts where exactly one entity has it.
    """

    ids: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    grams: tuple[str, ...] = ()


class Triple(NamedTuple):
    """What is so of an entity at present."""

    subject: str
    predicate: str
    object: str


def seeds_of(prompt: str) -> Seeds:
    """The seeds of *prompt* alone, never of what was found for it: a block must not feed on itself."""
    names = [part for found in _NAME.findall(prompt) for part in _and_its_words(found)]
    return Seeds(_distinct(_ID.findall(prompt)), _distinct(names), _grams(words(prompt)))


def triple_lines(triples: Iterable[Triple]) -> list[str]:
    """One line for each different triple, in their order."""
    return [f"{t.subject} {t.predicate} {t.object}" for t in dict.fromkeys(triples)]


def _and_its_words(name: str) -> list[str]:
    parts = name.split()
    return [" ".join(parts), *parts] if len(parts) > 1 else parts


def _grams(said: list[str]) -> tuple[str, ...]:
    runs = (
        " ".join(said[start : start + length])
        for length in range(LONGEST_NAME, 0, -1)
        for start in range(len(said) - length + 1)
    )
    return _distinct(runs)[:MOST_NAMES]


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(islice(dict.fromkeys(texts), MOST_NAMES))
