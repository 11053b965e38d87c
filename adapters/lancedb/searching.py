from __future__ import annotations

from collections.abc import Callable, Sequence

from clawmem.ports.records import Hit, Scope

_NOBODY = -1  # matches no document, because LanceDB accepts no empty list
_WIDER = 4  # factor for the next request if the cut falls among equal scores


def condition(scope: Scope) -> str | None:
    """Return the filter for *scope*, which LanceDB applies before the limit; ``None`` for an unlimited scope."""
    parts = []
    if scope.collections:
        parts.append(f"collection in ({', '.join(map(_quoted, sorted(scope.collections)))})")
    if scope.authored_from is not None:
        parts.append(f"authored_at >= {_quoted(scope.authored_from)}")
    if scope.authored_until is not None:
        parts.append(f"authored_at < {_quoted(scope.authored_until)}")
    if scope.documents is not None:
        ids = ", ".join(map(str, sorted(scope.documents or {_NOBODY})))
        parts.append(f"document_id in ({ids})")
    return " and ".join(parts) or None


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


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
