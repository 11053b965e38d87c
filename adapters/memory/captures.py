from __future__ import annotations

from clawmem.adapters.memory.tables import Tables
from clawmem.ports.captures import Cursor, Sighting


class MemoryCaptures:
    """Reference ``CaptureStore`` over two dictionaries."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def cursor(self, session_id: str, reader: str) -> Cursor:
        return self._tables.cursors.get((session_id, reader), Cursor())

    def advance(self, session_id: str, reader: str, cursor: Cursor) -> None:
        self._tables.cursors[session_id, reader] = cursor

    def add(self, sighting: Sighting) -> bool:
        if self.is_known(sighting.source):
            return False
        self._tables.sightings[sighting.source] = sighting
        document = self._tables.documents.get(sighting.document_id)
        if document:
            counted = document._replace(duplicate_count=len(self.sightings(document.id)))
            self._tables.documents[document.id] = counted
        return True

    def is_known(self, source: str) -> bool:
        return source in self._tables.sightings

    def earliest(self, payload: str, content_type: str, since: str = "") -> Sighting | None:
        said = (
            one
            for one in self._tables.sightings.values()
            if (one.payload, one.content_type) == (payload, content_type) and one.seen_at >= since
        )
        return min(filter(self._is_served, said), key=_when, default=None)

    def sightings(self, document_id: int) -> list[Sighting]:
        return sorted((s for s in self._tables.sightings.values() if s.document_id == document_id), key=_when)

    def count_as(self, document_id: int, times: int) -> None:
        document = self._tables.documents.get(document_id)
        if document:
            self._tables.documents[document_id] = document._replace(duplicate_count=times)

    def forget(self, document_id: int) -> int:
        said = self.sightings(document_id)
        empty = {one.source: one._replace(quote="", payload="") for one in said}
        self._tables.sightings = {**self._tables.sightings, **empty}
        return len(said)

    def _is_served(self, sighting: Sighting) -> bool:
        document = self._tables.documents.get(sighting.document_id)
        return document is not None and document.inactive is None


def _when(sighting: Sighting) -> tuple[str, str]:
    return sighting.seen_at, sighting.source
