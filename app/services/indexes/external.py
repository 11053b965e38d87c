"""Indexes that may be outside the vault file: routing, replication, repair and moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any, Self

from clawmem.app.services.indexes.engines import Engines
from clawmem.app.services.indexes.generations import Generations, Progress
from clawmem.app.services.indexes.indexer import Indexer
from clawmem.app.services.indexes.serving import NOT_THERE, ExternalIndex, ServedLexical, ServedVectors
from clawmem.app.services.indexes.stopgap import Stopgap
from clawmem.ports.errors import IndexBusy, IndexDamaged, InterruptedAfterCommit, LeaseLost
from clawmem.ports.indexes import LexicalIndex, Outbox, VectorIndex
from clawmem.ports.records import Role
from clawmem.ports.storage import Storage, Transactions, VaultInfo
from clawmem.ports.vault import Vault

OWN_BACKEND = "sqlite"
PATIENCE_S = 60.0  # wait for writers of other processes, for operations that the user requested explicitly
LAG = 2_000  # changes that may remain unreplicated until the end of a command; they are searched in the vault


class ExternalIndexes:
    """
    Indexes of the vault *records* that may be outside the vault file.

    ``vault`` is *records* with routers for its indexes, transactions and storage. A write goes to the records and can
    be found at once; it is replicated to external indexes after its transaction. A failed replication never fails the
    write: its error is stored in ``lagging``, and the next `keep_up` retries. ``healed`` are the indexes that the last
    `keep_up` found damaged and rebuilt.
    """

    def __init__(self, records: Vault, engines: Engines, indexer: Indexer) -> None:
        self._engines = engines
        self._indexer = indexer
        self.generations = Generations(engines, indexer)
        self.words: ExternalIndex[LexicalIndex] = ExternalIndex(records.outbox, engines, Role.LEXICAL)
        self.meaning: ExternalIndex[VectorIndex] = ExternalIndex(records.outbox, engines, Role.VECTORS)
        self.lagging: dict[Role, str] = {}
        self.healed: list[Role] = []
        self.vault = replace(
            records,
            lexical=ServedLexical(
                records.tail,
                self.words,
                Stopgap(records.documents, records.outbox, records.storage, indexer.entries),
            ),
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
            self._attempt(index.role, lambda index=index: self._heal(index, progress))  # type: ignore[misc]
        self._attempt(Role.VECTORS, self.generations.tidy)

    def move(self, backend: str, progress: Progress = lambda done, total: None) -> None:
        """
        Move the indexes to *backend*. An interrupted move can be resumed, and the vault stays searchable.

        Raises:
            ConfigError: The backend does not exist.
            IndexBusy, IndexUnavailable, ExtraMissing: The previous indexes continue to serve.
        """
        for index in (self.words, self.meaning):
            engine = self._engines.engine_for(index.role, backend)
            record = index.record()
            if (record.engine if record else None) == engine:
                continue
            index.release()
            self.generations.replace(index.role, engine, progress, patience_s=PATIENCE_S)

    def rebuild(
        self, role: Role, progress: Progress = lambda done, total: None, *, patience_s: float = PATIENCE_S
    ) -> None:
        """
        Rebuild the serving index of *role* from the records while the old one serves, then switch to the new one.

        Raises:
            IndexBusy: Another process held the write lease for longer than *patience_s*.
        """
        record = (self.words if role is Role.LEXICAL else self.meaning).record()
        if record:
            self.generations.replace(role, record.engine, progress, anew=True, patience_s=patience_s)
        else:
            self.generations.rebuild_own(role, progress)

    def close(self) -> None:
        """Close the external indexes; the vault stays open."""
        self.vault.lexical.close()
        self.vault.vectors.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def replicate(self, index: ExternalIndex[Any]) -> None:
        """Replicate changes to the external index; repair of a damaged index is left to `keep_up`."""
        self._attempt(index.role, lambda: self._catch_up(index))

    def _heal(self, index: ExternalIndex[Any], progress: Progress) -> None:
        before = index.record()
        try:
            self._catch_up(index)
        except IndexDamaged:
            index.release()
            after = index.record()
            if before and after and before.generation == after.generation:  # else already replaced
                self.generations.replace(index.role, before.engine, progress)
                self.healed.append(index.role)

    def _catch_up(self, index: ExternalIndex[Any]) -> None:
        record, opened = index.record(), index.index()
        if record is None or opened is None:
            return
        with self._indexer.leased(index.role) as lease:
            if lease:
                self._indexer.catch_up(record, opened, lease)
            else:
                index.unseen(opened)  # without the lease, at least detect damage

    def _attempt(self, role: Role, action: Callable[[], None]) -> None:
        try:
            action()
        except (*NOT_THERE, IndexBusy, LeaseLost) as error:
            self.lagging[role] = str(error)


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
                    self._indexes.replicate(index)
                except KeyboardInterrupt as interruption:
                    raise InterruptedAfterCommit from interruption


class RoutedStorage:
    """``Storage`` of records together with their external indexes."""

    def __init__(self, indexes: ExternalIndexes, own: Storage) -> None:
        self._indexes = indexes
        self._own = own
        self.check = self._own.check  # the indexes report theirs through `DerivedIndex.faults`
        self.scratch_lexical = self._own.scratch_lexical
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
