"""Hybrid score of OpenClaw's memory search: a weighted sum of cosine and rank, with a minimum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from clawmem.ports.records import FragmentKey

Key = TypeVar("Key", str, FragmentKey)

VECTOR_WEIGHT = 0.7
TEXT_WEIGHT = 0.3
MOST_RESULTS = 6
LEAST_SCORE = 0.35
CANDIDATES_PER_RESULT = 4


class Ranked(NamedTuple, Generic[Key]):
    """A chunk with its score and the two parts of it; a part is None if that search did not find the chunk."""

    key: Key
    score: float
    vector_score: float | None
    text_score: float | None


def text_score(rank: int) -> float:
    """Return the score of the chunk at *rank*, from 0, of a keyword search."""
    return 1 / (1 + max(0, rank))


def ranked(
    cosines: Mapping[Key, float],
    by_keyword: Sequence[Key],
    *,
    most: int = MOST_RESULTS,
    least: float = LEAST_SCORE,
    vector_weight: float = VECTOR_WEIGHT,
    text_weight: float = TEXT_WEIGHT,
) -> list[Ranked[Key]]:
    """
    Return the best chunks of a vector search and a keyword search, best first.

    The score is ``vector_weight`` x cosine + ``text_weight`` x 1 / (1 + rank); the weights are scaled to a sum of 1.
    Chunks with less than *least* are left out, except for this: while there is room, chunks follow that match the
    words, and whose score or part of it for words reaches the smaller one of *least* and the weight of text. Otherwise
    no exact name could be found whose chunk has a low cosine. They never displace another chunk.

    Args:
        cosines: The chunks of the vector search with their cosines.
        by_keyword: The chunks of the keyword search, best first, without repetition.

    Raises:
        ValueError: A weight is negative, or both are 0.
    """
    whole = vector_weight + text_weight
    if min(vector_weight, text_weight) < 0 or whole <= 0:
        raise ValueError(f"The weights {vector_weight} and {text_weight} have no positive sum.")
    texts = {key: text_score(rank) for rank, key in enumerate(by_keyword)}
    text_share = text_weight / whole

    def scored(key: Key) -> Ranked[Key]:
        weighted = vector_weight * cosines.get(key, 0.0) + text_weight * texts.get(key, 0.0)
        return Ranked(key, weighted / whole, cosines.get(key), texts.get(key))

    def matches_words(one: Ranked[Key]) -> bool:
        by_words = -1.0 if one.text_score is None else max(one.score, text_share * one.text_score)
        return one.score < least and by_words >= min(least, text_share)

    candidates = sorted((scored(key) for key in {**cosines, **texts}), key=lambda one: (-one.score, one.key))
    strict = [candidate for candidate in candidates if candidate.score >= least][:most]
    return (
        strict
        + [candidate for candidate in candidates if matches_words(candidate)][: max(0, most - len(strict))]
    )
