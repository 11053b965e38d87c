from __future__ import annotations

from collections.abc import Iterable, Mapping

from clawmem.adapters.memory.tables import Tables
from clawmem.ports.acts import Act, ActEntry


class MemoryActs:
    """Reference ``ActJournal`` over a list."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def add(self, entries: Iterable[ActEntry]) -> list[int]:
        first = len(self._tables.acts) + 1
        new = [entry._replace(id=number) for number, entry in enumerate(entries, start=first)]
        self._tables.acts = [*self._tables.acts, *new]
        return [entry.id for entry in new]

    def get(self, act_id: int) -> ActEntry | None:
        return next((entry for entry in self._tables.acts if entry.id == act_id), None)

    def latest(self, limit: int, document_id: int | None = None) -> list[ActEntry]:
        newest_first = reversed(self._tables.acts)
        return [e for e in newest_first if document_id in (None, e.document_id)][: max(limit, 0)]

    def last(self, act: Act) -> Mapping[int, str]:
        return {entry.document_id: entry.at for entry in self._tables.acts if entry.act is act}

    def forget(self, document_id: int) -> int:
        of_it = [e for e in self._tables.acts if e.document_id == document_id and e.why]
        self._tables.acts = [e._replace(why="") if e in of_it else e for e in self._tables.acts]
        return len(of_it)
