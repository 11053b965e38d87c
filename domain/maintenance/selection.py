"""Order in which a maintenance lane processes memories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from clawmem.ports.records import Document

STALE_FIRST = "stale-first"
NEWEST_FIRST = "newest-first"
SURPRISAL = "surprisal"
SURPRISAL_FALLBACK = "surprisal-fallback-stale"
NEIGHBOURS = 5  # nearest neighbours whose mean distance measures surprisal
LEAST_SURPRISAL = 0.001  # at or below, the memory is a copy of its neighbours
LIGHT_LIMIT = 50
HEAVY_LIMIT = 100


def stale_first(documents: Iterable[Document], recalled_at: Mapping[int, str], limit: int) -> list[Document]:
    """
    Return documents by collection, then by last use, oldest first, then by time of writing.

    The last use is the last recall, without one the last access, without both the time of writing.

    Args:
        recalled_at: Time of the last recall by document id; may be empty.
        limit: Maximum number of documents; none if below 1.
    """

    def touched(document: Document) -> tuple[str, str, str, int]:
        last = recalled_at.get(document.id) or document.last_accessed_at or document.authored_at
        return document.collection, last, document.authored_at, document.id

    return sorted(documents, key=touched)[: max(limit, 0)]


def newest_first(documents: Iterable[Document], limit: int) -> list[Document]:
    """Return at most *limit* documents, last written first, then highest id first; none if *limit* is below 1."""
    newest = sorted(documents, key=lambda document: (document.authored_at, document.id), reverse=True)
    return newest[: max(limit, 0)]


def surprising_first(distances: Mapping[int, Sequence[float]], limit: int) -> list[int]:
    """
    Return ids by mean distance to the five nearest neighbours, largest first, then by id.

    The result is empty if fewer than six ids have distances. With fewer than five neighbours, the mean is over those.

    Args:
        distances: Cosine distances to the nearest neighbours, by id.
        limit: Maximum number of ids; none if below 1.
    """
    if len(distances) <= NEIGHBOURS:
        return []
    means = {number: sum(near) / len(near) for number, near in distances.items() if near}
    surprising = [number for number, mean in means.items() if mean > LEAST_SURPRISAL]
    return sorted(surprising, key=lambda number: (-means[number], number))[: max(limit, 0)]
