"""Indexes that may be outside the vault file: routing, replication, repair and moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from typing import Any, Self

from clawmem.app.services.indexing.replication import Engines, Indexer
from clawmem.app.services.indexing.serving import NOT_THERE, ExternalIndex, ServedLexical, ServedVectors
from clawmem.app.services.leases import WorkLease
from clawmem.ports.errors import IndexBusy, IndexDamaged, InterruptedAfterCommit, LeaseLost
from clawmem.ports.indexes import LexicalIndex, Outbox, VectorIndex
from clawmem.ports.records import IndexState, Role
from clawmem.ports.storage import Storage, Transactions, VaultInfo
from clawmem.ports.vault import Vault

OWN_BACKEND = "sqlite"
PATIENCE_S = 60.0  # wait for writers of other processes, for operations that the user requested explicitly
LAG = 2_000  # changes that may remain unreplicated until the end of a command; they are searched in the vault
DOCUMENTS_AT_ONCE = 200

Progress = Callable[[int, int], None]


class ExternalIndexes:
    """
    Indexes of the vault *records* that may be outside the vault file.

    ``vault`` is *records* with routers for its indexes, transactions and storage. A write goes to the records and can
    be found at once; it is replicated to external indexes after its transaction. A failed replication never fails the
    write: its error is stored in ``lagging``, and the next `keep_up` retries. ``healed`` are the indexes that the last
    `keep_up` found damaged and rebuilt.
    """

    def __init__(self, records: Vault, engines: Engines, indexer: Indexer) -> None:
        self._records = records
        self._engines = engines
        self._indexer = indexer
        self.words: ExternalIndex[LexicalIndex] = ExternalIndex(records.outbox, engines, Role.LEXICAL)
        self.meaning: ExternalIndex[VectorIndex] = ExternalIndex(records.outbox, engines, Role.VECTORS)
        self.lagging: dict[Role, str] = {}
        self.healed: list[Role] = []
        self.vault = replace(
            records,
            lexical=ServedLexical(records.tail, self.words),
            vectors=ServedVectors(records.embeddings, self.meaning),
            transactions=RoutedTransactions(self, records.transactions, records.outbox),
            storage=RoutedStorage(self, records.storage),
        )

    @property
    def backend(self) -> str:
        """Name of the backend of the indexes."""
        records = (index.record() for index in (self.words, self.meaning))
        return next((r.engine for r in records if r), OWN_BACKEND)

    def size_bytes(self) -> int:
        """Return the disk space of the index files next to the vault."""
        return self._engines.size_bytes()

    def keep_up(self, progress: Progress = lambda done, total: None) -> None:
        """
        Bring every index up to date with the records; rebuild damaged or missing ones.

        Also deletes retired indexes.
        """
        self.lagging.clear()
        self.healed.clear()
        for index in (self.words, self.meaning):
            with self.recording(index.role):
                self._heal(index, progress)
        with self.recording(Role.VECTORS):
            self.tidy()

    def move(self, backend: str, progress: Progress = lambda done, total: None) -> None:
        """
        Move the indexes to *backend*. The vault stays searchable; an interrupted move is begun again.

        Raises:
            ConfigError: The backend does not exist.
            IndexBusy, IndexUnavailable, ExtraMissing: The previous indexes continue to serve.
        """
        for index in (self.words, self.meaning):
            engine, record = self._engines.engine_for(index.role, backend), index.record()
            if (record.engine if record else None) != engine:
                index.release()
                self.build(index.role, engine, progress, patience_s=PATIENCE_S)

    def rebuild(
        self, role: Role, progress: Progress = lambda done, total: None, *, patience_s: float = PATIENCE_S
    ) -> None:
        """
        Rebuild the serving index of *role* from the records while the old one serves, then switch to the new one.

        Raises:
            IndexBusy: Another process held the write lease for longer than *patience_s*.
        """
        record = (self.words if role is Role.LEXICAL else self.meaning).record()
        self.build(role, record.engine if record else None, progress, patience_s=patience_s)

    def build(
        self,
        role: Role,
        engine: str | None,
        progress: Progress = lambda done, total: None,
        *,
        patience_s: float = 0.0,
    ) -> None:
        """
        Build an index of *role* with *engine* (``None`` for the vault's own index), and switch to it.

        The old index serves until the new one is complete. A build that was killed is begun again.

        Args:
            patience_s: Seconds to wait for writers of other processes.

        Raises:
            IndexBusy: Another process is writing the indexes of this role.
            IndexUnavailable: The storage of the new index cannot be reached; the old index continues to serve.
        """
        with self._indexer.leased(role, patience_s) as lease:
            if lease is None:
                raise IndexBusy(f"{role} of this vault")
            if engine is None:
                self._discard(role, IndexState.BUILDING)
                self._fill_own(role, progress)
            else:
                try:
                    self._fill(role, engine, lease, progress)
                except IndexDamaged:  # another embedding model took over meanwhile
                    self._fill(role, engine, lease, progress)
        self.tidy()

    def tidy(self) -> None:
        """Delete retired indexes; those that cannot be reached are kept until the next call."""
        with suppress(*NOT_THERE):
            for role in Role:
                self._discard(role, IndexState.RETIRED)
        self._engines.discard_unregistered(self._records.outbox.indexes)

    def close(self) -> None:
        """Close the external indexes; the vault stays open."""
        self.vault.lexical.close()
        self.vault.vectors.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @contextmanager
    def recording(self, role: Role) -> Iterator[None]:
        """Store the error of a failed replication in ``lagging``."""
        try:
            yield
        except (*NOT_THERE, IndexBusy, LeaseLost) as error:
            self.lagging[role] = str(error)

    def _heal(self, index: ExternalIndex[Any], progress: Progress) -> None:
        before = index.record()
        try:
            self.catch_up(index)
        except IndexDamaged:
            index.release()
            after = index.record()
            if before and after and before.generation == after.generation:  # else already replaced
                self.build(index.role, before.engine, progress)
                self.healed.append(index.role)

    def catch_up(self, index: ExternalIndex[Any]) -> None:
        """Replicate changes to the external index; repair of a damaged index is left to `keep_up`."""
        record, opened = index.record(), index.index()
        if record is None or opened is None:
            return
        with self._indexer.leased(index.role) as lease:
            if lease:
                self._indexer.catch_up(record, opened, lease)
            else:
                index.unseen(opened)  # without the lease, at least detect damage

    def _fill(self, role: Role, engine: str, lease: WorkLease, progress: Progress) -> None:
        self._discard(role, IndexState.BUILDING)
        outbox = self._records.outbox
        with self._records.transactions.writing():
            record = outbox.register(role, engine)
        self._engines.discard(record)  # after a restore from a backup, generation numbers may be reused
        with closing(self._engines.open(record)) as index:
            self._indexer.write(record, index, (), record.since, lease)
            for ids in self._batches(progress):
                self._indexer.write(record, index, ids, record.since, lease)
            self._indexer.catch_up(record, index, lease)
            with self._records.transactions.writing():
                lease.check()
                self._indexer.refuse_outdated(record)
                outbox.serve(record, role)
                if role is Role.LEXICAL:
                    self._records.lexical.clear()
                    newer = outbox.after(index.marker() or record.since, role).document_ids
                    self._records.lexical.put(self._indexer.entries(newer))
            # After the switch, because it may outlast the lease and does not affect results.
            with suppress(IndexBusy):
                index.optimize()

    def _fill_own(self, role: Role, progress: Progress) -> None:
        """Fill the vault's own index in one transaction; readers see the old one until it commits."""
        records = self._records
        with records.transactions.writing():
            records.outbox.serve(None, role)
            if role is Role.VECTORS:
                records.embeddings.rebuild()
                return
            records.lexical.clear()
            for ids in self._batches(progress):
                records.lexical.put(self._indexer.entries(ids))

    def _discard(self, role: Role, state: IndexState) -> None:
        for record in self._records.outbox.indexes():
            if record.role is role and record.state is state:
                self._engines.discard(record)
                with self._records.transactions.writing():
                    self._records.outbox.unregister(record)

    def _batches(self, progress: Progress) -> Iterator[list[int]]:
        """Yield the ids of all served documents."""
        total = sum(self._records.documents.collections().values())
        done = last = 0
        while ids := [document.id for document in self._records.documents.following(last, DOCUMENTS_AT_ONCE)]:
            yield ids
            done, last = done + len(ids), ids[-1]
            progress(done, max(total, done))


class RoutedTransactions:
    """``Transactions`` of records whose changes are replicated to external indexes."""

    def __init__(self, indexes: ExternalIndexes, own: Transactions, outbox: Outbox) -> None:
        self._indexes = indexes
        self._own = own
        self._outbox = outbox

    @contextmanager
    def reading(self) -> Iterator[None]:
        """
        Let reads see the same state, unless an external index serves.

        An external index changes independently of the records, so that its answers need their latest state.
        """
        with ExitStack() as snapshot:
            snapshot.enter_context(self._own.reading())
            if self._indexes.words.record() or self._indexes.meaning.record():
                snapshot.close()
            yield

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Open a write transaction, then replicate if the lag is large."""
        with self._own.writing():
            yield
        for index in (self._indexes.words, self._indexes.meaning):
            record = index.record()
            if record and self._outbox.head().seq - record.since.seq > LAG:
                try:
                    with self._indexes.recording(index.role):
                        self._indexes.catch_up(index)
                except KeyboardInterrupt as interruption:
                    raise InterruptedAfterCommit from interruption


class RoutedStorage:
    """``Storage`` of records together with their external indexes."""

    def __init__(self, indexes: ExternalIndexes, own: Storage) -> None:
        self._indexes = indexes
        self._own = own
        self.check = self._own.check  # the indexes report theirs through `DerivedIndex.faults`
        self.close = self._own.close

    def info(self) -> VaultInfo:
        """Return the info of the records, with the backend of the indexes and the size of their files."""
        info, vault = self._own.info(), self._indexes.vault
        return replace(
            info,
            backend=self._indexes.backend,
            size_bytes=info.size_bytes + self._indexes.size_bytes(),
            lexical_method=vault.lexical.method,
            vector_method=vault.vectors.method,
        )

    def scrub(self) -> None:
        """
        Scrub the records, and rebuild external indexes first, which hold deleted words until they merge segments.

        Raises:
            IndexBusy, IndexUnavailable: The records were not scrubbed; call it again later.
        """
        for index in (self._indexes.words, self._indexes.meaning):
            if index.record():
                self._indexes.rebuild(index.role, patience_s=0.0)  # the caller retries
        self._own.scrub()
