from __future__ import annotations

from tantivy import Query, Searcher

from clawmem.adapters.tantivy.entries import KEY, unpack
from clawmem.ports.records import Hit

_BEYOND = 16  # hits fetched beyond the limit, to detect a tie across the limit


def best(searcher: Searcher, query: Query, limit: int) -> list[Hit]:
    """Return the best *limit* >= 1 hits by descending score, then key; the key also decides ties at the limit."""
    most = max(1, searcher.num_docs)
    fetched = min(limit + _BEYOND, most)
    found = searcher.search(query, fetched, count=False).hits
    while limit < len(found) == fetched < most and _score(found[-1]) == _score(found[limit - 1]):
        # the tie is longer than the fetched hits; all of them are needed to order by key
        fetched = min(fetched * 8, most)
        found = searcher.search(query, fetched, count=False).hits
    keys = searcher.fast_field_values(KEY, [address for _, address in found])
    hits = [Hit(unpack(int(key or 0)), _score(one)) for key, one in zip(keys, found, strict=True)]
    return sorted(hits, key=lambda hit: (-hit.score, hit.key))[:limit]


def count(searcher: Searcher, query: Query) -> int:
    """Return the number of entries that match a query."""
    return int(searcher.search(query, 1).count)  # type: ignore[attr-defined]  # missing in its stubs


def _score(found: tuple[float, object]) -> float:
    # tantivy sums 32-bit floats in varying order, so entries with the same words differ in the last digit.
    return float(f"{found[0]:.6g}")
