from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from clawmem.adapters.memory.tables import ATTEMPTS, Tables
from clawmem.adapters.memory.vector_index import decoded, nearest, refuse_length
from clawmem.ports.embeddings import EmbeddingBuild, EmbeddingCounts
from clawmem.ports.errors import BadVector, ModelMismatch
from clawmem.ports.records import (
    EVERYTHING,
    EmbedState,
    Hit,
    PendingText,
    Role,
    Scope,
    Vector,
    VectorEntry,
)

# tolerance of the length: rounding to float32 is far below, a missing normalization far above
TOLERANCE = 1e-3


class MemoryEmbeddings:
    """Reference ``EmbeddingStore`` over dictionaries."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def fingerprint(self) -> str | None:
        return self._tables.fingerprint

    def building(self) -> EmbeddingBuild | None:
        fingerprint = self._tables.beside
        if fingerprint is None:
            return None
        used = self._used()
        share = len(used & self._tables.beside_vectors.keys()) / len(used) if used else 0.0
        return EmbeddingBuild(fingerprint, share)

    def pending(self, limit: int, *, beside: bool = False) -> list[PendingText]:
        return list(self._waiting(beside).values())[: max(limit, 0)]

    # -- vectors ------------------------------------------------------------------------------------

    def store(
        self, fingerprint: str, vectors: Mapping[str, Vector], *, beside: bool = False
    ) -> list[VectorEntry]:
        self._refuse_other_model(fingerprint, beside)
        held = self._vectors(beside)
        _refuse_bad([*held.values()][:1], vectors.values())
        held.update(vectors)
        if beside:
            return []
        self._tables.fingerprint = fingerprint if held else None
        self._note_changed(vectors.keys())
        return [entry for entry, name in self._entries() if name in vectors]

    def fail(self, text_hashes: Sequence[str], error: str, *, beside: bool = False) -> None:
        failures = self._failures(beside)
        for name in text_hashes:
            failures[name] = (*failures.get(name, ()), error)

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

    def counts(self, *, beside: bool = False) -> EmbeddingCounts:
        if beside and self._tables.beside is None:
            return EmbeddingCounts()
        used, held = self._used(), self._vectors(beside)
        return EmbeddingCounts(
            stored=len(used & held.keys()),
            pending=len(self._waiting(beside)),
            failed=sum(self._is_given_up(name, beside) for name in used),
            orphaned=len(held.keys() - used),
        )

    def documents_without(self) -> int:
        served = (one for one in self._tables.documents.values() if one.inactive is None)
        return sum(self._tables.seen(one.id).embed_state is not EmbedState.SYNCED for one in served)

    def clean(self) -> int:
        used = self._used()
        orphans = self._tables.vectors.keys() - used
        for kept in (self._vectors, self._failures):
            for beside in (False, True):
                for name in kept(beside).keys() - used:
                    del kept(beside)[name]
        self._note_changed(orphans)
        self._forget_empty()
        return len(orphans)

    # -- embedding spaces -----------------------------------------------------------------------------

    def begin(self, fingerprint: str) -> None:
        self.give_up()
        self._tables.beside = fingerprint

    def give_up(self) -> None:
        self._tables.retired_vectors += self._tables.beside_vectors.values()
        self._leave_beside()

    def take_over(self) -> bool:
        if self._tables.beside is None or self._waiting(beside=True):
            return False
        self._tables.retired_vectors += self._tables.vectors.values()
        self._tables.fingerprint = self._tables.beside
        self._tables.vectors = self._tables.beside_vectors
        self._tables.failures = self._tables.beside_failures
        self._leave_beside()
        self._outdate_indexes()
        self._forget_empty()
        return True

    def discard(self, limit: int) -> int:
        gone = self._tables.retired_vectors[: max(limit, 0)]
        del self._tables.retired_vectors[: len(gone)]
        return len(gone)

    def clear(self) -> None:
        self._note_changed(set(self._tables.vectors))
        self.give_up()
        self._tables.vectors, self._tables.failures, self._tables.retired_vectors = {}, {}, []
        self._forget_empty()

    # -- helpers --------------------------------------------------------------------------------------

    def _vectors(self, beside: bool) -> dict[str, Vector]:
        return self._tables.beside_vectors if beside else self._tables.vectors

    def _failures(self, beside: bool) -> dict[str, tuple[str, ...]]:
        return self._tables.beside_failures if beside else self._tables.failures

    def _entries(self) -> Iterator[tuple[VectorEntry, str]]:
        """Iterate over the vectors of active documents, each with its text hash."""
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

    def _waiting(self, beside: bool) -> dict[str, PendingText]:
        if beside and self._tables.beside is None:
            return {}
        texts = {text.text_hash: text for _, text in self._tables.active_texts()}
        made = self._vectors(beside)
        return {
            name: text
            for name, text in texts.items()
            if name not in made and not self._is_given_up(name, beside)
        }

    def _is_given_up(self, name: str, beside: bool) -> bool:
        return name not in self._vectors(beside) and len(self._failures(beside).get(name, ())) >= ATTEMPTS

    def _leave_beside(self) -> None:
        self._tables.beside, self._tables.beside_vectors, self._tables.beside_failures = None, {}, {}

    def _forget_empty(self) -> None:
        if self._tables.fingerprint is not None and not self._tables.vectors:
            self._tables.fingerprint = None
            self._outdate_indexes()

    def _outdate_indexes(self) -> None:
        for number, record in self._tables.indexes.items():
            if record.role is Role.VECTORS:
                self._tables.indexes[number] = record._replace(outdated=True)

    def _refuse_other_model(self, fingerprint: str, beside: bool) -> None:
        stored = self._tables.beside if beside else self._tables.fingerprint
        if stored != fingerprint and (beside or stored is not None):
            raise ModelMismatch(stored or "no other model", fingerprint)


def _refuse_bad(stored: Sequence[Vector], new: Iterable[Vector]) -> None:
    """
    Raise ``BadVector`` unless all of *new* are unit vectors of the same length as each other and as *stored*.
    """
    vectors = [decoded(vector) for vector in (*stored, *new)]
    for numbers in vectors:
        refuse_length(numbers, expected=len(vectors[0]))
        if abs(math.hypot(*numbers) - 1) > TOLERANCE:
            raise BadVector(f"its length is {math.hypot(*numbers):.3f}, not 1")
