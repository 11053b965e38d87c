"""Extraction of possible entity names from a prompt, and rendering of facts as lines."""

import re
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from clawmem.domain.knowledge.entities import name_words
from clawmem.domain.knowledge.triples import Statement

MOST_NAMES = 500  # looked up together
MOST_ENTITIES = 100
TRIPLES_EACH = 10
LONGEST_NAME = 3  # words

_ID = re.compile(r"(?<![\w:])[a-z][\w-]*:[a-z_]+:[\w.-]*\w")
_NAME = re.compile(r"\b(?:[A-Z][a-z]+(?:[A-Z][a-z]*)*|[A-Z]{2}[A-Z0-9]*+)(?:\s+(?:[A-Z][a-z]+|[A-Z]{2,}))*\b")


class Seeds(NamedTuple):
    """
    Parts of a prompt that may name an entity, in three groups, each in lookup order.

    ``ids`` have the form of entity ids and must match exactly; ``names`` are capitalised like names; ``grams`` are all
    word n-grams of up to three words, longer ones first. A name matches only if exactly one entity has it.
    """

    ids: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    grams: tuple[str, ...] = ()


def seeds_of(prompt: str) -> Seeds:
    """Return the seeds of *prompt*; surfaced text is never used as a seed, to avoid feedback."""
    names = [part for found in _NAME.findall(prompt) for part in _and_its_words(found)]
    return Seeds(_distinct(_ID.findall(prompt)), _distinct(names), _grams(name_words(prompt)))


def triple_line(statement: Statement) -> str:
    """Return *statement* as one line."""
    return " ".join(" ".join(statement).split())


def _and_its_words(name: str) -> list[str]:
    parts = name.split()
    return [" ".join(parts), *parts] if len(parts) > 1 else parts


def _grams(said: list[str]) -> tuple[str, ...]:
    said = said[: MOST_NAMES // LONGEST_NAME]  # else a long prompt would yield only long n-grams
    runs = (
        " ".join(said[start : start + length])
        for length in range(LONGEST_NAME, 0, -1)
        for start in range(len(said) - length + 1)
    )
    return _distinct(runs)


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(islice(dict.fromkeys(texts), MOST_NAMES))
