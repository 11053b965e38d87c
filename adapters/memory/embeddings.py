from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from clawmem.adapters.memory.tables import Tables
from clawmem.adapters.memory.vector_index import decoded, nearest, refuse_length
from clawmem.ports.errors import BadVector, ModelMismatch
from clawmem.ports.records import EVERYTHING, EmbeddingCounts, Hit, PendingText, Scope, Vector, VectorEntry

TOLERANCE = 1e-3  # of the length: float32 rounding is far below, a forgotten normalisation far above


class MemoryEmbeddings:
    """``EmbeddingStore`` over dictionaries: the reference to read first."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def fingerprint(self) -> str | None:
        return self._tables.fingerprint

    def pending(self, limit: int) -> list[PendingText]:
        return list(self._waiting().values())[: max(limit, 0)]

    def store(self, fingerprint: str, vectors: Mapping[str, Vector]) -> list[VectorEntry]:
        self._refuse_other_model(fingerprint)
        _refuse_bad([*self._tables.vectors.values()][:1], vectors.values())
        self._tables.vectors.update(vectors)
        self._tables.fingerprint = fingerprint if self._tables.vectors else None
        self._note_changed(vectors.keys())
        return [entry for entry, name in self._entries() if name in vectors]

    def fail(self, text_hashes: Sequence[str], error: str) -> None:
        for name in text_hashes:
            self._tables.failures[name] = (*self._tables.failures.get(name, ()), error)

    def of_document(self, document_id: int) -> list[VectorEntry]:
        document = self._tables.documents.get(document_id)
        if document is None or document.inactive:
            return []
        return [entry for entry, _ in self._entries() if entry.key.document_id == document_id]

    def nearest(
        self,
        vector: Vector,
        limit: int,
        scope: Scope = EVERYTHING,
        *,
        documents: Collection[int] | None = None,
    ) -> list[Hit]:
        entries = [entry for entry, _ in self._entries()]
        if documents is not None:
            entries = [entry for entry in entries if entry.key.document_id in documents]
        return nearest(vector, limit, scope, entries)

    def counts(self) -> EmbeddingCounts:
        used = self._used()
        return EmbeddingCounts(
            stored=len(used & self._tables.vectors.keys()),
            pending=len(self._waiting()),
            failed=sum(map(self._tables.is_given_up, used)),
            orphaned=len(self._tables.vectors.keys() - used),
        )

    def clean(self) -> int:
        used = self._used()
        orphans = self._tables.vectors.keys() - used
        for name in orphans:
            del self._tables.vectors[name]
        self._note_changed(orphans)
        for name in self._tables.failures.keys() - used:
            del self._tables.failures[name]
        if not self._tables.vectors:
            self._tables.fingerprint = None
        return len(orphans)

    def clear(self) -> None:
        self._note_changed(set(self._tables.vectors))
        self._tables.vectors.clear()
        self._tables.failures.clear()
        self._tables.fingerprint = None

    def _entries(self) -> Iterator[tuple[VectorEntry, str]]:
        """The vectors of active documents, each with the name of its text."""
        for key, text in self._tables.active_texts():
            if text.text_hash in self._tables.vectors:
                document = self._tables.documents[key.document_id]
                vector = self._tables.vectors[text.text_hash]
                yield VectorEntry(key, vector, document.collection, document.authored_at), text.text_hash

    def _note_changed(self, names: Collection[str]) -> None:
        for document_id, texts in self._tables.texts.items():
            if any(text.text_hash in names for _, text in texts):
                self._tables.note_change(document_id, is_text=False)

    def _used(self) -> set[str]:
        return {text.text_hash for _, text in self._tables.active_texts()}

    def _waiting(self) -> dict[str, PendingText]:
        texts = {text.text_hash: text for _, text in self._tables.active_texts()}
        return {
            name: text
            for name, text in texts.items()
            if name not in self._tables.vectors and not self._tables.is_given_up(name)
        }

    def _refuse_other_model(self, fingerprint: str) -> None:
        stored = self._tables.fingerprint
        if stored not in (None, fingerprint):
            raise ModelMismatch(str(stored), fingerprint)


def _refuse_bad(stored: Sequence[Vector], new: Iterable[Vector]) -> None:
    """Raise ``BadVector`` unless all of *new* are unit vectors as long as each other and as those *stored*."""
    vectors = [decoded(vector) for vector in (*stored, *new)]
    for numbers in vectors:
        refuse_length(numbers, expected=len(vectors[0]))
        if abs(math.hypot(*numbers) - 1) > TOLERANCE:
            raise BadVector(f"its length is {math.hypot(*numbers):.3f}, not 1")
