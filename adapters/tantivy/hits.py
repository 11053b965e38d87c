from __future__ import annotations

from tantivy import Query, Searcher

from clawmem.adapters.tantivy.entries import KEY, unpack
from clawmem.ports.records import Hit

_BEYOND = 16  # hits fetched beyond the limit, so that a tie across it is seen


def best(searcher: Searcher, query: Query, limit: int) -> list[Hit]:
    """The best *limit* >= 1 hits, by score descending, then key; ties are cut by key as well."""
    most = max(1, searcher.num_docs)
    fetched = min(limit + _BEYOND, most)
    found = searcher.search(query, fetched, count=False).hits
    while limit < len(found) == fetched < most and _score(found[-1]) == _score(found[limit - 1]):
        fetched = min(fetched * 8, most)  # a tie that reaches beyond: who is in it is decided by key
        found = searcher.search(query, fetched, count=False).hits
    keys = searcher.fast_field_values(KEY, [address for _, address in found])
    hits = [Hit(unpack(int(key or 0)), _score(one)) for key, one in zip(keys, found, strict=True)]
    return sorted(hits, key=lambda hit: (-hit.score, hit.key))[:limit]


def count(searcher: Searcher, query: Query) -> int:
    """How many entries answer a query."""
    return int(searcher.search(query, 1).count)  # type: ignore[attr-defined]  # missing in its stubs


def _score(found: tuple[float, object]) -> float:
    # tantivy adds in 32 bits and in no fixed order, so entries with equal words differ in the last digit.
    return float(f"{found[0]:.6g}")
