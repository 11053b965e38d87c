"""External indexes: their files, and the replication of the records to them under a fenced lease."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep
from typing import cast

from clawmem.app.services.leases import WorkLease
from clawmem.domain.documents.fragments import lexical_entries
from clawmem.ports.clock import Clock
from clawmem.ports.errors import BadVector, ConfigError, IndexDamaged
from clawmem.ports.indexes import Backend, DerivedIndex, IndexPlace, LexicalIndex, VectorIndex
from clawmem.ports.records import IndexRecord, LexicalEntry, Marker, Role
from clawmem.ports.vault import Vault

BATCH = 512  # changes per commit; bounds the work lost by a kill and the time that a lease must cover
LEASE_MS = 60_000


@dataclass(frozen=True, slots=True)
class Engines:
    """
    Factory that opens and discards the external indexes of one vault.

    Args:
        named: Returns a backend by its name; raises `ConfigError` if it does not exist.
        folder: Folder for the indexes of this vault.
        read_only: Whether indexes are opened for reading only.
        options: Engine options from the config file; read lazily by the engines.
    """

    named: Callable[[str], Backend]
    folder: str
    read_only: bool = False
    options: Mapping[str, str] = field(default_factory=dict)

    def open(self, record: IndexRecord) -> DerivedIndex:
        """
        Open and return the index of *record*, in a folder that only its owner can read.

        Raises:
            IndexDamaged, IndexUnavailable, ExtraMissing: See `clawmem.ports.errors`.
            ConfigError: The backend does not support an index for this role.
        """
        backend = self.named(record.engine)
        opener = backend.lexical if record.role is Role.LEXICAL else backend.vectors
        if opener is None:
            raise ConfigError(f"The backend {record.engine!r} keeps no {record.role} index any more.")
        index = cast("Callable[[IndexPlace], DerivedIndex]", opener)(self._place(record))
        if not self.read_only:
            with suppress(OSError):  # indexes in an object store have no folder
                Path(self.folder).chmod(0o700)
        return index

    def discard(self, record: IndexRecord) -> None:
        """Delete an index permanently."""
        self.named(record.engine).discard(self._place(record))

    def _place(self, record: IndexRecord) -> IndexPlace:
        name = f"{record.role}-{record.generation}"
        return IndexPlace(
            folder=f"{self.folder}/{name}",
            name=f"{record.since.vault}-{name}",
            read_only=self.read_only,
            options=self.options,
        )


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
    def leased(self, role: Role, patience_s: float = 0.0) -> Iterator[WorkLease | None]:
        """Hold the write lease of *role*; yield ``None`` if another process holds it for longer than *patience_s*."""
        lease = WorkLease(
            f"index {role}", self.records.leases, self.clock, self.holder, self.is_gone, LEASE_MS
        )
        until = monotonic() + patience_s
        while not (is_held := lease.acquire()) and monotonic() < until:
            sleep(0.005)  # writers hold the lease for one batch and take it again at once
        try:
            yield lease if is_held else None
        finally:
            lease.release()

    def catch_up(self, record: IndexRecord, index: DerivedIndex, lease: WorkLease) -> None:
        """
        Apply all changes up to now that *index* has not seen; later changes are left to their writers.

        Raises:
            IndexDamaged: The marker is not in this vault's history, or the vectors are outdated; the index must be
                rebuilt.
            IndexBusy, IndexUnavailable, LeaseLost: The index remains at its last committed marker.
        """
        outbox, marker = self.records.outbox, index.marker()
        if marker is None or not outbox.knows(marker):
            raise IndexDamaged(index.method, "it does not belong to the vault as it is now")
        head = outbox.head()
        while marker.seq < head.seq:
            ids, upto = outbox.after(marker, record.role, BATCH)
            if upto == marker:
                return
            self.write(record, index, ids, upto, lease)
            with self.records.transactions.writing():
                outbox.seen(record, upto)
            marker = upto

    def write(
        self, record: IndexRecord, index: DerivedIndex, ids: Sequence[int], upto: Marker, lease: WorkLease
    ) -> None:
        """
        Replace the entries of documents in one commit with the marker *upto*.

        Raises:
            IndexDamaged: Another embedding model has taken over, also while its vectors were read.
        """
        lease.renew()
        self.refuse_outdated(record)
        try:
            with index.committing(upto):
                target = cast("LexicalIndex | VectorIndex", index)
                for number in ids:
                    target.remove(number)
                if record.role is Role.LEXICAL:
                    cast("LexicalIndex", index).put(self.entries(ids))
                else:
                    vectors = [
                        vector for number in ids for vector in self.records.embeddings.of_document(number)
                    ]
                    cast("VectorIndex", index).put(vectors)
                # As late as possible: a process that was suspended beyond its lease must not commit.
                lease.check()
        except BadVector:
            self.refuse_outdated(record)
            raise

    def refuse_outdated(self, record: IndexRecord) -> None:
        """Raise `IndexDamaged` if the index is outdated because another embedding model has taken over."""
        if any(r.generation == record.generation and r.outdated for r in self.records.outbox.indexes()):
            raise IndexDamaged(record.engine, "another model's vectors serve now")

    def entries(self, document_ids: Sequence[int]) -> list[LexicalEntry]:
        """Return the lexical entries of the given documents; inactive documents have none."""
        documents = self.records.documents.many(document_ids)
        return [
            entry
            for number in document_ids
            if number in documents and documents[number].inactive is None
            for entry in lexical_entries(documents[number], self.records.documents.fragments(number))
        ]
