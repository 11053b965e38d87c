"""Which words of a question are looked for; the same ones in every engine that counts before it searches."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

Term = TypeVar("Term", bound=Hashable)

# Scoring costs about a microsecond a match, and the most frequent words tell least: past this many matches
# of rarer words they are left out.
MOST_MATCHES = 8_000


def telling(terms: Sequence[Term], held: Mapping[Term, int]) -> list[Term]:
    """The rarest of *terms*, as many as have `MOST_MATCHES` together, and always the rarest one."""
    kept: list[Term] = []
    matches = 0
    for term in sorted(terms, key=lambda term: held[term]):
        matches += held[term]
        if kept and matches > MOST_MATCHES:
            break
        kept.append(term)
    return kept
