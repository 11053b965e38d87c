"""Which memories a lane looks at first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from clawmem.ports.records import Document

STALE_FIRST = "stale-first"
NEWEST_FIRST = "newest-first"
SURPRISAL = "surprisal"
SURPRISAL_FALLBACK = "surprisal-fallback-stale"
NEIGHBOURS = 5  # by whose distance it is told how unlike others something is
LEAST_SURPRISAL = 0.001  # at or below, it is a copy of them
LIGHT_LIMIT = 50
HEAVY_LIMIT = 100


def stale_first(documents: Iterable[Document], recalled_at: Mapping[int, str], limit: int) -> list[Document]:
    """
    By collection, then what nobody asked for longest: by the last recall, or where there is none the last access,
    or else the time of writing; then by the time of writing.

    Args:
        recalled_at: When documents were last given in answer, by id; it may be empty.
        limit: How many at most; below 1 none.
    """

    def touched(one: Document) -> tuple[str, str, str, int]:
        last = recalled_at.get(one.id) or one.last_accessed_at or one.authored_at
        return one.collection, last, one.authored_at, one.id

    return sorted(documents, key=touched)[: max(limit, 0)]


def newest_first(documents: Iterable[Document], limit: int) -> list[Document]:
    """Last written first, the later stored of two; *limit* at most, below 1 none."""
    newest = sorted(documents, key=lambda one: (one.authored_at, one.id), reverse=True)
    return newest[: max(limit, 0)]


def surprising_first(distances: Mapping[int, Sequence[float]], limit: int) -> list[int]:
    """
    The ids of what is least like anything else: by the mean distance to the five nearest, the largest first, then by id.

    None where fewer than six have distances; one that has fewer than five neighbours has the mean of those.

    Args:
        distances: Cosine distances of each one to its nearest neighbours, by id.
        limit: How many at most; below 1 none.
    """
    if len(distances) <= NEIGHBOURS:
        return []
    means = {number: sum(near) / len(near) for number, near in distances.items() if near}
    told = [number for number, mean in means.items() if mean > LEAST_SURPRISAL]
    return sorted(told, key=lambda number: (-means[number], number))[: max(limit, 0)]
