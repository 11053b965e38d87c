"""Possible names of entities in a prompt."""

import re
from typing import NamedTuple

from clawmem.domain.knowledge.entities import name_words

MOST_NAMES = 500  # looked up together
MOST_ENTITIES = 100
TRIPLES_EACH = 10
LONGEST_NAME = 3  # words

_ID = re.compile(r"(?<![\w:])[a-z][\w-]*:[a-z_]+:[\w.-]*\w")


class Seeds(NamedTuple):
    """
    Parts of a prompt that may name an entity, in lookup order.

    ``ids`` have the form of entity ids and must match exactly; ``names`` are all runs of up to three words, longer ones
    first. A name matches only if exactly one entity has it.
    """

    ids: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


def seeds_of(prompt: str) -> Seeds:
    """Return the seeds of *prompt*; surfaced text is never used as a seed, to avoid feedback."""
    words = name_words(prompt)[: MOST_NAMES // LONGEST_NAME]  # else a long prompt would yield only long names
    names = (
        " ".join(words[start : start + length])
        for length in range(LONGEST_NAME, 0, -1)
        for start in range(len(words) - length + 1)
    )
    return Seeds(tuple(dict.fromkeys(_ID.findall(prompt)))[:MOST_NAMES], tuple(dict.fromkeys(names)))
