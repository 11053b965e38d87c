"""Scores and term weights of BM25, fusion of retrievers, blending with a reranker, and diversification of a ranking."""

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import TypeVar

from clawmem.domain.retrieval.relevance import family
from clawmem.domain.text.words import words

K = 60.0  # Cormack, Clarke & Büttcher 2009: results hardly change between 20 and 100, so it is not tuned
TOP_RANK_BONUS = (0.05, 0.02, 0.02)  # by 0-based rank: one first place outweighs two middle ranks

RERANKER_SHARE = 0.7

# Share of the question that the best match covers from which words alone decide, by family of embedders. Its median is 0.3
# for paraphrases in the vaults of `tests/data`, 0.9 for the words of the notes, and 1.2 on LoCoMo.
COVERED = MappingProxyType({"bge-small:384": 1.1, "multilingual-e5:384": 1.2})
COVERED_OTHERWISE = 0.4  # static vectors, and models that were not measured
# Keeps the score below 1 where a/(1+a) would round up to 1.
_BELOW_ONE = math.nextafter(1.0, 0.0)

Key = TypeVar("Key", bound=Hashable)
Item = TypeVar("Item")


def lexical_score(raw: float) -> float:
    """
    Map a BM25 weight to [0, 1): ``a / (1 + a)`` with ``a = abs(raw)``; 0.0 for NaN, and below 1 for an infinite weight.

    SQLite's ``bm25()`` is zero or negative, that of other engines positive. The ranking is preserved. The result
    depends on the corpus and on the number of terms, so it cannot be compared with the score of another retriever.
    """
    weight = abs(raw)
    if math.isnan(weight):
        return 0.0
    return min(_BELOW_ONE, weight / (1.0 + weight)) if math.isfinite(weight) else _BELOW_ONE


def rarity(entries: int, holding: int) -> float:
    """
    Return the weight of a term that *holding* of *entries* contain, ``ln(1 + (N - n + .5) / (n + .5))``, above zero.

    It is the weight of Robertson and Spärck Jones, with one added so that it stays positive for very frequent terms.
    """
    return math.log1p((entries - holding + 0.5) / (holding + 0.5))


def rrf(
    rankings: Mapping[str, Sequence[Key]], weights: Mapping[str, float] = MappingProxyType({})
) -> list[tuple[Key, float]]:
    """
    Fuse rankings by reciprocal rank: the sum over retrievers of ``w / (K + r + 1)``, *r* the 0-based rank; best first.

    Scores need not be comparable. Each retriever adds 0.05 at its rank 0 and 0.02 at its ranks 1 and 2, regardless of
    its weight (by default 1.0; 0 leaves it out). A repeated key counts once, at its best rank. Ties are broken by the
    key.
    """
    shares: defaultdict[Key, list[float]] = defaultdict(list)
    for retriever, ranking in rankings.items():
        weight = weights.get(retriever, 1.0)
        for rank, key in enumerate(dict.fromkeys(ranking) if weight else ()):
            bonus = TOP_RANK_BONUS[rank] if rank < len(TOP_RANK_BONUS) else 0.0
            shares[key].append(weight / (K + rank + 1) + bonus)
    total = {key: math.fsum(values) for key, values in shares.items()}  # exact, so independent of the order
    return sorted(total.items(), key=lambda pair: (-pair[1], pair[0]))


def min_max(scores: Mapping[Key, float], *, floor: float | None = None) -> dict[Key, float]:
    """
    Scale the scores of one query to [0, 1]: the highest becomes 1, the lowest (or *floor*) 0; those not finite are
    dropped.

    When all scores are the same, one or many, each becomes 1.0. *floor* is the score that means "no match": scores at
    or below it become 0, and all do if none is above it.
    """
    scores = {key: score for key, score in scores.items() if math.isfinite(score)}
    high = max(scores.values(), default=0.0)
    low = min(scores.values(), default=0.0) if floor is None else floor
    if high <= low:
        return dict.fromkeys(scores, 1.0 if floor is None else 0.0)
    return {key: (max(low, score) - low) / (high - low) for key, score in scores.items()}


def blend(
    fused: Mapping[Key, float], reranked: Mapping[Key, float], share: float = RERANKER_SHARE
) -> dict[Key, float]:
    """
    Return ``(1 - share) * fused + share * top * r``: *r* the reranker's score scaled to [0, 1], *top* the best *fused*.

    Above one half, the reranker can produce every order. A candidate that it did not score, or with a score that is not
    finite, has r = 0. If its scores are within 0.001 of each other, the fused scores are returned unchanged.
    """
    scores = {key: score for key, score in reranked.items() if key in fused and math.isfinite(score)}
    if not scores or max(scores.values()) - min(scores.values()) < 0.001:
        return dict(fused)
    top, scaled = max(fused.values()), min_max(scores)
    return {key: (1 - share) * score + share * top * scaled.get(key, 0.0) for key, score in fused.items()}


def meaning_share(coverage: float, fingerprint: str) -> float:
    """
    Return the share of the vectors, in [0, 1]: 1 if no word matches, falling linearly to 0 at the coverage that
    suffices.

    *coverage* is the BM25 of the best document as a share of the summed rarities of the question's words.
    """
    return max(0.0, 1.0 - coverage / COVERED.get(family(fingerprint), COVERED_OTHERWISE))


def diversify(
    items: Iterable[Item], text_of: Callable[[Item], str], *, threshold: float = 0.6
) -> tuple[list[Item], list[Item]]:
    """
    Return the distinct items and the near-duplicates: greedy maximal marginal relevance on word similarity.

    Going down the ranking *items*, an item is a near-duplicate if its Jaccard similarity to a distinct one exceeds
    *threshold*. Both lists preserve their order.
    """
    distinct: list[Item] = []
    copies: list[Item] = []
    known: list[frozenset[str | tuple[str, str]]] = []
    for item in items:
        every = words(text_of(item))
        # Shorter words are mostly function words and do not indicate similarity alone.
        features: frozenset[str | tuple[str, str]] = frozenset(
            [*pairwise(every), *(word for word in every if len(word) > 3)]
        )
        shares = ((len(features & other), len(features) + len(other)) for other in known)
        if any(shared > threshold * (total - shared) for shared, total in shares):
            copies.append(item)
        else:
            distinct.append(item)
            known.append(features)
    return distinct, copies
