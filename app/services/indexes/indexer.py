"""The one indexer: carries changes from the records into an index outside, under a fenced lease."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic, sleep
from typing import cast

from clawmem.app.services.indexes.engines import OWN
from clawmem.domain.documents.entries import lexical_entries
from clawmem.ports.clock import Clock
from clawmem.ports.derived_index import DerivedIndex
from clawmem.ports.errors import BadVector, IndexDamaged
from clawmem.ports.lexical_index import LexicalIndex
from clawmem.ports.records import (
    Document,
    IndexRecord,
    IndexState,
    Lease,
    LexicalEntry,
    Marker,
    Role,
    VectorEntry,
)
from clawmem.ports.vault import RecordVault
from clawmem.ports.vector_index import VectorIndex

BATCH = 512  # changes a commit: what a kill costs, and for how long a lease must hold
LEASE_MS = 60_000
ASKED_EVERY_S = 0.005  # by who waits for it


class Indexer:
    """
    Applies what changed, batch by batch, each with its marker in the same commit.

    Replaying is idempotent: a document is taken out and put in again as the records have it now. So a kill
    at any moment costs the batch that was under way.
    """

    def __init__(
        self,
        records: RecordVault,
        clock: Clock,
        holder: str,
        is_gone: Callable[[str], bool] = lambda holder: False,
    ) -> None:
        self._records = records
        self._clock = clock
        self._holder = holder
        self._is_gone = is_gone

    @contextmanager
    def leased(self, role: Role, patience_s: float = 0.0) -> Iterator[Lease | None]:
        """The right to write a role's indexes; ``None`` if another process has it for longer than *patience_s*."""
        lease = self._awaited(f"index {role}", patience_s)
        try:
            yield lease
        finally:
            if lease:
                self._records.leases.release(lease)

    def _awaited(self, name: str, patience_s: float) -> Lease | None:
        # Who writes has it for the length of a batch, and takes it again and again: it is asked for often.
        until = monotonic() + patience_s
        while True:
            lease = self._acquired(name) or self._inherited(name)
            if lease or monotonic() >= until:
                return lease
            sleep(ASKED_EVERY_S)

    def _acquired(self, name: str) -> Lease | None:
        now_ms = self._clock.now_ms()
        return self._records.leases.acquire(name, self._holder, now_ms=now_ms, ttl_ms=LEASE_MS)

    def _inherited(self, name: str) -> Lease | None:
        """The lease of a process that was killed: nobody else would give it back before it expires."""
        current = self._records.leases.current(name, now_ms=self._clock.now_ms())
        if current is None or not self._is_gone(current.holder):
            return None
        self._records.leases.release(current)
        return self._acquired(name)

    def renewed(self, lease: Lease) -> Lease:
        """The right for as long again. Raises `LeaseLost` when it has run out or somebody else has it."""
        return self._records.leases.renew(lease, now_ms=self._clock.now_ms(), ttl_ms=LEASE_MS)

    def fence(self, lease: Lease) -> None:
        """Raise `LeaseLost` unless *lease* is still the right to write; to be called right before every effect."""
        self._records.leases.check(lease, now_ms=self._clock.now_ms())

    def catch_up(self, record: IndexRecord, index: DerivedIndex, lease: Lease) -> None:
        """
        Apply everything that *index* has not seen by now; what others write meanwhile is theirs to carry.

        Raises:
            IndexDamaged: its marker is none of this vault's history, or its vectors no longer serve; it has
                to be made anew.
            IndexBusy, IndexUnavailable, LeaseLost: it stands at its last marker.
        """
        marker = index.marker()
        if marker is None or not self._records.outbox.knows(marker):
            raise IndexDamaged(index.method, "it does not belong to the vault as it is now")
        head = self._records.outbox.head()
        while marker.seq < head.seq:
            ids, upto = self._records.outbox.after(marker, record.role, BATCH)
            if upto == marker:
                return
            lease = self.renewed(lease)
            with self._of_one_model(record), index.committing(upto):
                self._replace(record.role, index, ids)
                # The fence, as late as can be: who slept through the lease must not commit any more.
                self.fence(lease)
            self._seen(record, ids, upto)
            marker = upto

    def fill(
        self, record: IndexRecord, index: DerivedIndex, documents: Sequence[Document], lease: Lease
    ) -> None:
        """Put documents into an index that is being built, as of the moment it was registered."""
        lease = self.renewed(lease)
        with self._of_one_model(record), index.committing(record.since):
            self._replace(record.role, index, [document.id for document in documents])
            self.fence(lease)
        self._records.outbox.built(record, documents[-1].id)

    def refuse_outdated(self, record: IndexRecord) -> None:
        """Raise `IndexDamaged` if an index has meanwhile been outdated by another model's vectors."""
        if any(r.generation == record.generation and r.outdated for r in self._records.outbox.indexes()):
            raise IndexDamaged(record.engine, "another model's vectors serve now")

    @contextmanager
    def _of_one_model(self, record: IndexRecord) -> Iterator[None]:
        """A batch. Vectors of another length come from a model that took over while they were read."""
        self.refuse_outdated(record)
        try:
            yield
        except BadVector:
            self.refuse_outdated(record)
            raise

    def stamp(self, record: IndexRecord, index: DerivedIndex) -> None:
        """Let an index without entries begin where it was registered."""
        with index.committing(record.since):
            pass

    def entries(self, document_ids: Sequence[int]) -> list[LexicalEntry]:
        """What the lexical index shall hold of documents: nothing of those that are not served."""
        documents = self._records.documents.many(document_ids)
        return [
            entry
            for number in document_ids
            if number in documents and documents[number].inactive is None
            for entry in lexical_entries(documents[number], self._records.documents.fragments(number))
        ]

    def vectors(self, document_ids: Sequence[int]) -> list[VectorEntry]:
        """What the vector index shall hold of documents."""
        return [entry for number in document_ids for entry in self._records.embeddings.of_document(number)]

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
        outbox = self._records.outbox
        with self._records.writing():
            if self._own_is_its_tail(record):
                newer = frozenset(outbox.after(upto, record.role).document_ids)
                for number in ids:
                    if number not in newer:
                        self._records.lexical.remove(number)
            outbox.seen(record, upto)

    def _own_is_its_tail(self, record: IndexRecord) -> bool:
        """Whether the vault's own index holds just what this one has not seen, so that it can let go of the rest."""
        others = [r for r in self._records.outbox.indexes() if r.role is record.role and r.engine == OWN]
        return record.role is Role.LEXICAL and record.state is IndexState.SERVING and not others
