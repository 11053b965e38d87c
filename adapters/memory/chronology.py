from __future__ import annotations

from collections.abc import Callable

from clawmem.adapters.memory.tables import Tables
from clawmem.ports.records import Document


class MemoryChronology:
    """Reference ``Chronology`` over the dictionary of documents."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def before(self, document_id: int, limit: int, collection: str | None = None) -> list[int]:
        earlier = self._in_order(document_id, collection, lambda one, focus: one < focus)
        return earlier[-limit:] if limit > 0 else []

    def after(self, document_id: int, limit: int, collection: str | None = None) -> list[int]:
        return self._in_order(document_id, collection, lambda one, focus: one > focus)[: max(limit, 0)]

    def _in_order(
        self, document_id: int, collection: str | None, is_wanted: Callable[[_Place, _Place], bool]
    ) -> list[int]:
        focus = self._tables.documents.get(document_id)
        if focus is None:
            return []
        served = (document for document in self._tables.documents.values() if document.inactive is None)
        places = (_place(one) for one in served if collection in (None, one.collection))
        return [place[1] for place in sorted(places) if is_wanted(place, _place(focus))]


_Place = tuple[str, int]


def _place(document: Document) -> _Place:
    return document.authored_at, document.id
