from __future__ import annotations

from collections.abc import Callable, Sequence

from clawmem.ports.records import Hit

_WIDER = 4  # times as many are asked for when the cut fell among equals


def best(ask: Callable[[int], Sequence[Hit]], limit: int) -> list[Hit]:
    """
    The first *limit* hits by score, then key.

    The engine orders by score alone and cuts equals as they come. So one more is asked for, and many more
    while the last one still ties with the last that would be kept.

    Args:
        ask: Gives at most so many hits, best first.
    """
    wanted = limit + 1
    while True:
        hits = ask(wanted)
        if len(hits) < wanted or hits[-1].score < hits[limit - 1].score:
            return sorted(hits, key=lambda hit: (-hit.score, hit.key))[:limit]
        wanted *= _WIDER
