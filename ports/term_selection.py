"""Selection of the query terms that are scored, shared by all engines that know term frequencies before a search."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

Term = TypeVar("Term", bound=Hashable)

# Scoring takes about a microsecond per match, and the most frequent terms are the least selective: once the terms
# have this many matches, the remaining ones are omitted.
MOST_MATCHES = 8_000


def selective_terms(terms: Sequence[Term], held: Mapping[Term, int]) -> list[Term]:
    """
    Return the rarest of *terms* that together have at most `MOST_MATCHES` matches, and at least the rarest one.

    *held* is the number of matches of each term.
    """
    kept: list[Term] = []
    matches = 0
    for term in sorted(terms, key=lambda term: held[term]):
        matches += held[term]
        if kept and matches > MOST_MATCHES:
            break
        kept.append(term)
    return kept
