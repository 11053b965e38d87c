"""Two ways to bring together what the indexes and what a reranker say of the same answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clawmem.domain.retrieval.fusion import Key, min_max

RERANKER_SHARE = 0.7
LEAST_SPREAD = 0.001  # scores that lie closer together are those of a model that tells nothing apart

# By 1-based rank: up to the third, up to the tenth, and beyond.
PUBLISHED_SHARES = ((3, 0.75), (10, 0.60))
PUBLISHED_LAST_SHARE = 0.40


def blend(
    fused: Mapping[Key, float], reranked: Mapping[Key, float], share: float = RERANKER_SHARE
) -> dict[Key, float]:
    """
    ``(1 - share) * fused + share * top * r``: *r* the reranker's scores scaled to [0, 1], *top* the best fused one.

    As long as *share* is above one half the reranker can bring about every order, whatever the fused scores:
    best at 0 with ``share * top`` comes before worst at *top* with ``(1 - share) * top``. An answer that it did
    not read has r = 0 and stays behind those it did, if it was. Where its scores lie within `LEAST_SPREAD`
    of each other, all fused scores stay as they are. Scores that are not finite count as not read.

    Args:
        fused: >= 0.
        reranked: By the same keys, or some of them.

    Returns:
        A score for every key of *fused*, in its order, none above its best.

    Raises:
        ValueError: *share* is not between 0 and 1.
    """
    if not 0.0 <= share <= 1.0:
        raise ValueError(f"share must lie between 0 and 1, not {share}")
    read = {key: score for key, score in reranked.items() if key in fused}
    scaled = min_max(read)
    spread = [read[key] for key in scaled]
    if not spread or max(spread) - min(spread) < LEAST_SPREAD:
        return dict(fused)
    top = max(fused.values())
    return {key: (1 - share) * score + share * top * scaled.get(key, 0.0) for key, score in fused.items()}


def published_blend(ranked: Sequence[Key], reranked: Mapping[Key, float]) -> dict[Key, float]:
    """
    The published blend: ``w / rank + (1 - w) * r``, with w .75 up to rank 3, .60 up to 10, .40 beyond.

    Kept for comparison. The first can never be overtaken: it has .75 at least, the second .625 at most.

    Args:
        ranked: Best first, each once.
        reranked: In [0, 1]; what is missing has 0.
    """
    return {
        key: published_share(rank) / rank + (1 - published_share(rank)) * reranked.get(key, 0.0)
        for rank, key in enumerate(ranked, start=1)
    }


def published_share(rank: int) -> float:
    """What the rank before reranking is worth in the published blend, by that rank, from 1."""
    return next((share for last, share in PUBLISHED_SHARES if rank <= last), PUBLISHED_LAST_SHARE)
