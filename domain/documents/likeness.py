"""Share of the text that two versions of a note have in common."""

from __future__ import annotations

from collections import Counter

from clawmem.domain.documents.tokens import words

LEAST_LIKENESS = 0.5  # from which on two texts have more in common than not
_SHINGLE = 3  # words: notes of one kind share many words and few phrases


def likeness(one: str, other: str) -> float:
    """
    Return the share of three-word phrases that two texts have in common, in [0, 1] (Sørensen-Dice coefficient).

    The order of the phrases does not count; a text of fewer than three words is one phrase.
    """
    ours, theirs = _shingles(one), _shingles(other)
    every = ours.total() + theirs.total()
    return 2 * (ours & theirs).total() / every if every else 0.0


def _shingles(text: str) -> Counter[tuple[str, ...]]:
    found = list(words(text))
    return Counter(
        tuple(found[at : at + _SHINGLE]) for at in range(max(1, len(found) - _SHINGLE + 1)) if found
    )
