from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clawmem.adapters.memory.tables import Tables
from clawmem.ports.outbox import Changes
from clawmem.ports.records import IndexRecord, IndexState, Marker, Role


class MemoryOutbox:
    """Reference ``Outbox`` over a list."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def head(self) -> Marker:
        changes = self._tables.changes
        return changes[-1].marker if changes else Marker(self._tables.vault_id, 0, "")

    def knows(self, marker: Marker) -> bool:
        untouched = self._tables.change_count == 0 and marker == self.head()
        return untouched or any(change.marker == marker for change in self._tables.changes)

    def after(self, marker: Marker, role: Role, limit: int | None = None) -> Changes:
        later = [change for change in self._tables.changes if change.marker.seq > marker.seq]
        seen = later if limit is None else later[: max(limit, 0)]
        wanted = [c.document_id for c in seen if c.document_id and (c.is_text or role is Role.VECTORS)]
        return Changes(tuple(dict.fromkeys(wanted)), seen[-1].marker if seen else marker)

    def indexes(self) -> Sequence[IndexRecord]:
        return sorted(self._tables.indexes.values(), key=lambda record: (record.role, record.generation))

    def register(self, role: Role, engine: str) -> IndexRecord:
        self._tables.generations += 1
        # Registration appends a change of its own, so that the starting point of every index has an epoch.
        since = self._tables.note_change(0, is_text=False)
        record = IndexRecord(role, engine, self._tables.generations, IndexState.BUILDING, since)
        self._tables.indexes[record.generation] = record
        return record

    def built(self, record: IndexRecord, to: int) -> None:
        self._change(record, built_to=to)

    def seen(self, record: IndexRecord, marker: Marker) -> None:
        self._change(record, since=marker)
        readers = [other for other in self.indexes() if other.state is not IndexState.RETIRED]
        least = min((other.since.seq for other in readers), default=0)
        self._tables.changes = [change for change in self._tables.changes if change.marker.seq >= least]

    def serve(self, record: IndexRecord | None, role: Role) -> None:
        for other in self.indexes():
            if other.role is role and other.state is IndexState.SERVING:
                self._change(other, state=IndexState.RETIRED)
        if record:
            self._change(record, state=IndexState.SERVING)

    def unregister(self, record: IndexRecord) -> None:
        self._tables.indexes.pop(record.generation, None)
        if not self._tables.indexes:
            self._tables.changes = []

    def _change(self, record: IndexRecord, **fields: Any) -> None:
        known = self._tables.indexes.get(record.generation)
        if known:
            self._tables.indexes[record.generation] = known._replace(**fields)
