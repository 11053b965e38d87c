"""Two formulas to blend the fused scores of the indexes with the scores of a reranker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clawmem.domain.retrieval.fusion import Key, min_max

RERANKER_SHARE = 0.7
LEAST_SPREAD = 0.001  # reranker scores within this range do not distinguish the candidates

# (last rank, share), with ranks from 1.
PUBLISHED_SHARES = ((3, 0.75), (10, 0.60))
PUBLISHED_LAST_SHARE = 0.40


def blend(
    fused: Mapping[Key, float], reranked: Mapping[Key, float], share: float = RERANKER_SHARE
) -> dict[Key, float]:
    """
    Return ``(1 - share) * fused + share * top * r``: *r* the reranker's score scaled to [0, 1], *top* the best *fused*.

    If *share* is above one half, the reranker can produce every order: its best candidate with fused score 0 gets
    ``share * top``, which is more than ``(1 - share) * top`` of its worst with fused score *top*. A candidate that it
    did not score has r = 0. If its scores are within `LEAST_SPREAD` of each other, the fused scores are returned
    unchanged. Scores that are not finite count as missing.

    Args:
        fused: Scores >= 0.
        reranked: Scores for the same keys, or some of them.
        share: Weight of the reranker, 0 to 1.

    Returns:
        A score for every key of *fused*, in its order, none above the best of *fused*.

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
    Return the published blend ``w / rank + (1 - w) * r``, with w .75 up to rank 3, .60 up to 10, .40 beyond.

    Used for comparison. The first candidate always stays first: it gets at least .75, the second at most .625.

    Args:
        ranked: Keys, best first, each once.
        reranked: Scores in [0, 1]; a missing score counts as 0.
    """
    return {
        key: published_share(rank) / rank + (1 - published_share(rank)) * reranked.get(key, 0.0)
        for rank, key in enumerate(ranked, start=1)
    }


def published_share(rank: int) -> float:
    """Return the weight of the previous *rank*, from 1, in the published blend."""
    return next((share for last, share in PUBLISHED_SHARES if rank <= last), PUBLISHED_LAST_SHARE)
