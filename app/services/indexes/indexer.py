"""Indexer that replicates changes from the records to an external index, under a fenced lease."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic, sleep
from typing import cast

from clawmem.app.services.indexes.engines import OWN
from clawmem.domain.documents.fragments import lexical_entries
from clawmem.ports.clock import Clock
from clawmem.ports.errors import BadVector, IndexDamaged
from clawmem.ports.indexes import DerivedIndex, LexicalIndex, VectorIndex
from clawmem.ports.records import Document, IndexRecord, IndexState, LexicalEntry, Marker, Role, VectorEntry
from clawmem.ports.storage import Lease
from clawmem.ports.vault import Vault

BATCH = 512  # changes per commit; bounds the work lost by a kill and the time that a lease must cover
LEASE_MS = 60_000
ASKED_EVERY_S = 0.005  # polling interval while waiting for a lease


@dataclass(frozen=True, slots=True)
class Indexer:
    """
    Indexer that applies changes in batches and commits each batch together with its marker.

    Replay is idempotent: a document is removed and then added in its current state. A kill at any moment therefore
    loses only the current batch.
    """

    records: Vault
    clock: Clock
    holder: str
    is_gone: Callable[[str], bool] = lambda holder: False

    @contextmanager
    def leased(self, role: Role, patience_s: float = 0.0) -> Iterator[Lease | None]:
        """Hold the write lease of *role*; yield ``None`` if another process holds it for longer than *patience_s*."""
        lease = self._awaited(f"index {role}", patience_s)
        try:
            yield lease
        finally:
            if lease:
                self.records.leases.release(lease)

    def _awaited(self, name: str, patience_s: float) -> Lease | None:
        # Writers hold the lease for one batch and take it again at once, so poll at a short interval.
        until = monotonic() + patience_s
        while True:
            lease = self._acquired(name) or self._inherited(name)
            if lease or monotonic() >= until:
                return lease
            sleep(ASKED_EVERY_S)

    def _acquired(self, name: str) -> Lease | None:
        now_ms = self.clock.now_ms()
        return self.records.leases.acquire(name, self.holder, now_ms=now_ms, ttl_ms=LEASE_MS)

    def _inherited(self, name: str) -> Lease | None:
        """Take over the lease of a dead process before it expires; ``None`` if its holder is alive."""
        current = self.records.leases.current(name, now_ms=self.clock.now_ms())
        if current is None or not self.is_gone(current.holder):
            return None
        self.records.leases.release(current)
        return self._acquired(name)

    def renewed(self, lease: Lease) -> Lease:
        """Return *lease* extended to its full duration. Raises `LeaseLost` if it has expired or was taken over."""
        return self.records.leases.renew(lease, now_ms=self.clock.now_ms(), ttl_ms=LEASE_MS)

    def fence(self, lease: Lease) -> None:
        """Raise `LeaseLost` unless *lease* is still valid; call this directly before every write."""
        self.records.leases.check(lease, now_ms=self.clock.now_ms())

    def catch_up(self, record: IndexRecord, index: DerivedIndex, lease: Lease) -> None:
        """
        Apply all changes up to now that *index* has not seen; later changes are left to their writers.

        Raises:
            IndexDamaged: The marker is not in this vault's history, or the vectors are outdated; the index must be
                rebuilt.
            IndexBusy, IndexUnavailable, LeaseLost: The index remains at its last committed marker.
        """
        marker = index.marker()
        if marker is None or not self.records.outbox.knows(marker):
            raise IndexDamaged(index.method, "it does not belong to the vault as it is now")
        if marker.seq > record.since.seq:  # a killed process committed to the index and could not say so
            self._seen(record, self.records.outbox.after(record.since, record.role).document_ids, marker)
        head = self.records.outbox.head()
        while marker.seq < head.seq:
            ids, upto = self.records.outbox.after(marker, record.role, BATCH)
            if upto == marker:
                return
            lease = self.renewed(lease)
            with self._of_one_model(record), index.committing(upto):
                self._replace(record.role, index, ids)
                # As late as possible: a process that was suspended beyond its lease must not commit.
                self.fence(lease)
            self._seen(record, ids, upto)
            marker = upto

    def fill(
        self, record: IndexRecord, index: DerivedIndex, documents: Sequence[Document], lease: Lease
    ) -> None:
        """Add documents to an index under construction; its marker is the moment of its registration."""
        lease = self.renewed(lease)
        with self._of_one_model(record), index.committing(record.since):
            self._replace(record.role, index, [document.id for document in documents])
            self.fence(lease)
        self.records.outbox.built(record, documents[-1].id)

    def refuse_outdated(self, record: IndexRecord) -> None:
        """Raise `IndexDamaged` if the index is outdated because another embedding model has taken over."""
        if any(r.generation == record.generation and r.outdated for r in self.records.outbox.indexes()):
            raise IndexDamaged(record.engine, "another model's vectors serve now")

    @contextmanager
    def _of_one_model(self, record: IndexRecord) -> Iterator[None]:
        """
        Run one batch for an index that is not outdated.

        Vectors of another length mean that a new model took over while they were read; then raise `IndexDamaged`.
        """
        self.refuse_outdated(record)
        try:
            yield
        except BadVector:
            self.refuse_outdated(record)
            raise

    def stamp(self, record: IndexRecord, index: DerivedIndex) -> None:
        """Set the marker of an empty index to the moment of its registration."""
        with index.committing(record.since):
            pass

    def entries(self, document_ids: Sequence[int]) -> list[LexicalEntry]:
        """Return the lexical entries of the given documents; inactive documents have none."""
        documents = self.records.documents.many(document_ids)
        return [
            entry
            for number in document_ids
            if number in documents and documents[number].inactive is None
            for entry in lexical_entries(documents[number], self.records.documents.fragments(number))
        ]

    def vectors(self, document_ids: Sequence[int]) -> list[VectorEntry]:
        """Return the vector entries of the given documents."""
        return [entry for number in document_ids for entry in self.records.embeddings.of_document(number)]

    def _replace(self, role: Role, index: DerivedIndex, ids: Sequence[int]) -> None:
        if role is Role.LEXICAL:
            lexical = cast("LexicalIndex", index)
            for number in ids:
                lexical.remove(number)
            lexical.put(self.entries(ids))
        else:
            vectors = cast("VectorIndex", index)
            for number in ids:
                vectors.remove(number)
            vectors.put(self.vectors(ids))

    def _seen(self, record: IndexRecord, ids: Sequence[int], upto: Marker) -> None:
        outbox = self.records.outbox
        with self.records.transactions.writing():
            if self._own_is_its_tail(record):
                newer = frozenset(outbox.after(upto, record.role).document_ids)
                for number in ids:
                    if number not in newer:
                        self.records.lexical.remove(number)
            outbox.seen(record, upto)

    def _own_is_its_tail(self, record: IndexRecord) -> bool:
        """Whether the vault's own index holds only changes that this index has not seen, and may drop all others."""
        others = [r for r in self.records.outbox.indexes() if r.role is record.role and r.engine == OWN]
        return record.role is Role.LEXICAL and record.state is IndexState.SERVING and not others
