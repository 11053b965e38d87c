from __future__ import annotations

from collections.abc import Callable, Sequence

from clawmem.ports.records import Hit

_WIDER = 4  # factor for the next request if the cut falls among equal scores


def best(ask: Callable[[int], Sequence[Hit]], limit: int) -> list[Hit]:
    """
    Return the first *limit* hits by score, then key.

    LanceDB orders by score alone and cuts equal scores arbitrarily. So one more hit is requested, and many
    more as long as the last one has the same score as the last one to return.

    Args:
        ask: Returns at most the given number of hits, best first.
    """
    wanted = limit + 1
    while True:
        hits = ask(wanted)
        if len(hits) < wanted or hits[-1].score < hits[limit - 1].score:
            return sorted(hits, key=lambda hit: (-hit.score, hit.key))[:limit]
        wanted *= _WIDER
