from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tantivy import Query, Searcher

from clawmem.adapters.tantivy.entries import KEY, unpack
from clawmem.ports.records import Grain, Hit, LexicalEntry

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


@dataclass(frozen=True, slots=True)
class GrainChange:
    """Changes of one commit at one granularity, applied in this order: clear, remove documents, add entries."""

    cleared: bool
    removed: frozenset[int]
    entries: tuple[LexicalEntry, ...]  # each key once

    def __bool__(self) -> bool:
        return self.cleared or bool(self.removed or self.entries)


class PendingChanges:
    """Changes of the next commit; only the last change of a document or key is kept."""

    def __init__(self) -> None:
        self._cleared = False
        self._removed: set[int] = set()
        self._entries: dict[int, dict[tuple[Grain, int], LexicalEntry]] = {}

    def put(self, entries: Iterable[LexicalEntry]) -> None:
        """Add entries, or replace those with the same key and granularity."""
        for entry in entries:
            of_document = self._entries.setdefault(entry.key.document_id, {})
            of_document[entry.grain, entry.key.seq] = entry

    def remove(self, document_id: int) -> None:
        """Remove a document, both committed entries and those added in this commit."""
        self._removed.add(document_id)
        self._entries.pop(document_id, None)

    def clear(self) -> None:
        """Remove everything."""
        self._cleared = True
        self._removed.clear()
        self._entries.clear()

    @property
    def cleared(self) -> bool:
        """Whether the commit removes all committed entries."""
        return self._cleared

    def of(self, grain: Grain) -> GrainChange:
        """Return the changes at one granularity."""
        entries = tuple(
            entry for units in self._entries.values() for entry in units.values() if entry.grain is grain
        )
        return GrainChange(self._cleared, frozenset(self._removed), entries)
