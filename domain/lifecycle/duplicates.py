"""Detection of low-confidence notes whose content another note repeats."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from clawmem.domain.documents.tokens import words
from clawmem.ports.records import Document

UNSURE = 0.4  # stored confidence below which a note is archived in favour of a duplicate
LEAST_SCORE = 0.7  # score of the duplicate in a search for the title of the note: |BM25| of 2.33
LEAST_SHARED = 0.4  # Jaccard similarity of the words of both notes
SHORTEST = 4  # letters of a significant word


def is_replaceable(document: Document) -> bool:
    """Whether a note may be archived in favour of a duplicate. A pinned note may not."""
    return document.confidence < UNSURE and not document.is_pinned


def significant_words(body: str) -> frozenset[str]:
    """Return the set of words of *body* that have four letters or more."""
    return frozenset(word for word in words(body) if len(word) >= SHORTEST)


def shared(one: AbstractSet[str], other: AbstractSet[str]) -> float:
    """Return the Jaccard similarity of two sets of words, in [0, 1]; 0 if both are empty."""
    return len(one & other) / len(one | other) if one or other else 0.0


def is_duplicate(score: float, overlap: float) -> bool:
    """Whether a note is a duplicate: *score*, in [0, 1), is that of a search for the other note's title."""
    return score >= LEAST_SCORE and overlap >= LEAST_SHARED
