"""Which note says what another one says already, and is not sure enough to stay beside it."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from clawmem.domain.documents.tokens import words
from clawmem.ports.records import Document

UNSURE = 0.4  # stored confidence below which a note gives way to one that says the same
LEAST_SCORE = 0.7  # of the other, when its words are looked for by the title: |BM25| of 2.33
LEAST_SHARED = 0.4  # of the words of both
SHORTEST = 4  # letters of a word that says something


def gives_way(document: Document) -> bool:
    """Whether a note may be put away for one that says the same; a pinned one never."""
    return document.confidence < UNSURE and not document.is_pinned


def telling_words(body: str) -> frozenset[str]:
    """Its words of more than three letters, each once."""
    return frozenset(word for word in words(body) if len(word) >= SHORTEST)


def shared(one: AbstractSet[str], other: AbstractSet[str]) -> float:
    """The share of the words of both that both have, in [0, 1]; 0 where there are none."""
    return len(one & other) / len(one | other) if one or other else 0.0


def says_the_same(score: float, overlap: float) -> bool:
    """Whether a note that was found by the other's title, with that score in [0, 1), says what the other says."""
    return score >= LEAST_SCORE and overlap >= LEAST_SHARED
