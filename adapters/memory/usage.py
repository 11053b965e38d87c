from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations

from clawmem.adapters.memory.tables import Tables
from clawmem.ports.captures import RecallStats, Utility


class MemoryUsage:
    """Reference ``UsageStore`` over three dictionaries."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def note(self, surfaced: Mapping[int, bool], at: str) -> None:
        known = sorted(number for number in surfaced if number in self._tables.documents)
        for number in known:
            before = self.utility(number)
            self._tables.utility[number] = Utility(before.surfaced + 1, before.referenced + surfaced[number])
        used = [number for number in known if surfaced[number]]
        for number in used:
            document = self._tables.documents[number]
            accesses = document.access_count + 1
            self._tables.documents[number] = document._replace(access_count=accesses, last_accessed_at=at)
        for pair in combinations(used, 2):
            self._tables.co_activations[pair] = self._tables.co_activations.get(pair, 0) + 1

    def utility(self, document_id: int) -> Utility:
        return self._tables.utility.get(document_id, Utility())

    def partners(self, document_id: int) -> Mapping[int, int]:
        found = {
            one if other == document_id else other: count
            for (one, other), count in self._tables.co_activations.items()
            if document_id in (one, other)
        }
        return dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0])))

    def put_recall_stats(self, stats: Iterable[RecallStats]) -> None:
        given = {one.document_id: one for one in stats}
        merged = {**self._tables.recall_stats, **given}
        self._tables.recall_stats = {number: one for number, one in merged.items() if one.recalls}

    def recall_stats(self) -> Mapping[int, RecallStats]:
        return dict(sorted(self._tables.recall_stats.items()))
