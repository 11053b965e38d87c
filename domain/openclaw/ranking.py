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
LEAST_OF_WORD_VECTORS = 0.1  # their cosines are lower: that of a question and its answer is about .15 to .5
CANDIDATES_PER_RESULT = 4


class Ranked(NamedTuple, Generic[Key]):
    """A chunk with its score and the two parts of it; a part is None if that search did not find the chunk."""

    key: Key
    score: float
    vector_score: float | None
    text_score: float | None


def ranked(
    cosines: Mapping[Key, float],
    by_keyword: Sequence[Key],
    *,
    most: int = MOST_RESULTS,
    least: float = LEAST_SCORE,
) -> list[Ranked[Key]]:
    """
    Return the best chunks of a vector search and a keyword search, best first.

    The score is 0.7 x cosine + 0.3 x 1 / (1 + rank). Chunks with less than *least* are left out, except for this: while
    there is room, chunks follow that match the words, and whose score or part of it for words reaches the smaller one
    of *least* and 0.3. Otherwise no exact name could be found whose chunk has a low cosine.

    Args:
        cosines: The chunks of the vector search with their cosines.
        by_keyword: The chunks of the keyword search, best first, without repetition.
    """
    texts = {key: 1 / (1 + rank) for rank, key in enumerate(by_keyword)}
    scores = {
        key: VECTOR_WEIGHT * cosines.get(key, 0.0) + TEXT_WEIGHT * texts.get(key, 0.0)
        for key in {**cosines, **texts}
    }
    order = sorted(scores, key=lambda key: (-scores[key], key))
    strict = [key for key in order if scores[key] >= least][:most]
    exact = [
        key
        for key in order
        if key in texts
        and scores[key] < least
        and max(scores[key], TEXT_WEIGHT * texts[key]) >= min(least, TEXT_WEIGHT)
    ]
    return [
        Ranked(key, scores[key], cosines.get(key), texts.get(key))
        for key in strict + exact[: max(0, most - len(strict))]
    ]
