from __future__ import annotations

from collections.abc import Iterable, Iterator

from clawmem.adapters.memory.tables import Tables
from clawmem.ports.errors import InvalidInput
from clawmem.ports.records import Document, InactiveReason
from clawmem.ports.succession import Claims, Succession


class MemorySuccessions:
    """``SuccessionStore`` over a dictionary: the reference to read first."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def claim(self, document_id: int, claims: Claims) -> None:
        if document_id not in self._tables.documents:
            raise InvalidInput(
                "INVALID_INPUT", f"No document has the id {document_id}; it can claim nothing."
            )
        self._tables.claims[document_id] = claims

    def direct(self, document_ids: Iterable[int]) -> set[Succession]:
        asked = set(document_ids)
        return {pair for pair in self._all() if pair.older in asked and pair.older != pair.newer}

    def _all(self) -> Iterator[Succession]:
        for document_id, claims in self._tables.claims.items():
            said_by = self._tables.documents[document_id]
            if said_by.inactive is None:
                for path in claims.supersedes:
                    yield from (Succession(other.id, said_by.id) for other in self._meant(said_by, path))
                for path in claims.superseded_by:
                    yield from (Succession(said_by.id, other.id) for other in self._meant(said_by, path))

    def _meant(self, said_by: Document, path: str) -> list[Document]:
        """What is served at that path, or under another one since the file there was renamed."""
        within = [d for d in self._tables.documents.values() if d.collection == said_by.collection]
        named = next((document for document in within if document.path == path), None)
        if named is None or named.inactive is None:
            return [named] if named else []
        if named.inactive is not InactiveReason.REMOVED:
            return []
        return [document for document in within if document.inactive is None and document.hash == named.hash]
