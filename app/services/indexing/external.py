"""Indexes that may be outside the vault file: routing, replication, repair and moves."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any, Generic, Self, TypeVar, cast

from clawmem.app.services.documents.listing import pages
from clawmem.app.services.indexing.replication import Engines, Indexer
from clawmem.app.services.progress import Progress
from clawmem.ports.errors import (
    ExtraMissing,
    IndexBusy,
    IndexBypassed,
    IndexDamaged,
    IndexUnavailable,
    LeaseLost,
    VaultError,
)
from clawmem.ports.indexes import (
    DerivedIndex,
    FormedIndex,
    LexicalIndex,
    Outbox,
    SpellingIndex,
    UnknownWord,
    VectorIndex,
    VectorSearch,
)
from clawmem.ports.records import (
    EVERYTHING,
    Grain,
    Hit,
    IndexRecord,
    IndexState,
    LexicalQuery,
    Marker,
    Role,
    Scope,
    Term,
    Vector,
)
from clawmem.ports.storage import Storage, Transactions, VaultInfo
from clawmem.ports.vault import Vault

OWN_BACKEND = "sqlite"
PATIENCE_S = 60.0  # wait for writers of other processes, for operations that the user requested explicitly
NOT_THERE = (IndexUnavailable, IndexDamaged, ExtraMissing)
REST_S = 2.0  # pause before an unreachable index is tried again

Index = TypeVar("Index", bound=DerivedIndex)
Search = TypeVar("Search", bound="LexicalIndex | VectorSearch")


@dataclass(eq=False)
class ExternalIndex(Generic[Index]):
    """Handle of the external index that serves a role; it is reopened when another generation takes over."""

    outbox: Outbox
    engines: Engines
    role: Role
    _opening: Any = field(default_factory=Lock, init=False)
    _opened: tuple[int, Index] | None = field(default=None, init=False)  # generation and index
    _lost: tuple[IndexUnavailable, float] | None = field(default=None, init=False)  # and when to try again

    def record(self) -> IndexRecord | None:
        """Return the registry record of the serving index; ``None`` while the vault's own index serves."""
        records = self.outbox.indexes()
        return next((r for r in records if r.role is self.role and r.state is IndexState.SERVING), None)

    def index(self) -> Index | None:
        """
        Return the open external index; ``None`` while the vault's own index serves.

        Raises:
            IndexDamaged, IndexUnavailable, ExtraMissing: The index cannot be opened, or is outdated.
        """
        record = self.record()
        if record is None:
            self.release()
            return None
        if record.outdated:
            raise IndexDamaged(record.engine, "its vectors are another model's than those that serve now")
        with self._opening:  # else each retriever of the first query would open one
            if self._lost and monotonic() < self._lost[1]:
                error = self._lost[0]
                raise IndexUnavailable(error.path, error.reason) from error
            if self._opened is None or self._opened[0] != record.generation:
                with self.watched():
                    self._opened = record.generation, cast("Index", self.engines.open(record))
            return self._opened[1]

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Run requests to the index; if it is unreachable, reject further ones for `REST_S` seconds."""
        try:
            yield
        except IndexUnavailable as error:
            # A query sends several requests, and each would wait for the timeout of a hanging store.
            self._lost = error, monotonic() + REST_S
            raise

    def unseen(self, index: Index) -> frozenset[int]:
        """
        Return the ids of documents whose latest change the index has not seen.

        Raises:
            IndexDamaged: The marker is not in this vault's history.
        """
        marker = index.marker()
        while marker is None or not self.outbox.knows(marker):
            # Another process may have moved the marker since it was read, and the outbox prunes fully replicated changes.
            before, marker = marker, index.marker()
            if marker == before:
                raise IndexDamaged(index.method, "it does not belong to the vault as it is now")
        return frozenset(self.outbox.after(marker, self.role).document_ids)

    def release(self) -> None:
        """Drop the reference to the open index; other threads may still be using it."""
        self._opened = None


@dataclass(eq=False)
class IndexRouter(Generic[Search]):
    """Common part of the index routers of both roles; the vault's own index has every entry."""

    _own: Search
    _outside: ExternalIndex[Any]

    @property
    def method(self) -> str:
        """Search method of the serving index, or why there is none."""
        try:
            return self._serving().method
        except NOT_THERE as error:
            return f"none: {error}"

    @property
    def in_process(self) -> bool:
        """Whether the vault's own index serves; an external index may be in a remote store."""
        return self._outside.record() is None

    def faults(self) -> list[str]:
        """Return the faults of the vault's own index and of the serving index."""
        try:
            index = self._outside.index()
            if index is None:
                return self._own.faults()
            self._outside.unseen(index)
            return [*self._own.faults(), *index.faults()]
        except NOT_THERE as error:
            return [str(error)]

    def _serving(self) -> Search:
        return self._outside.index() or self._own

    def _search(
        self, limit: int, scope: Scope, search: Callable[[Search, int, Scope], list[Hit]]
    ) -> list[Hit]:
        """
        Return the best *limit* hits of the serving index, and of the vault's own one for changes that it has not seen.

        Raises:
            IndexBypassed: The serving index failed, and no other one took over; ``partial`` are hits of the own one.
        """
        while True:
            record = self._outside.record()
            try:
                index = self._outside.index()
                if index is None:
                    return search(self._own, limit, scope)
                with self._outside.watched():
                    unseen, wanted = self._outside.unseen(index), limit
                    hits = search(index, wanted, scope)
                    while (
                        len(hits) == wanted and sum(hit.key.document_id not in unseen for hit in hits) < limit
                    ):
                        wanted *= 2
                        hits = search(index, wanted, scope)
                    break
            except NOT_THERE as error:
                if self._outside.record() == record:
                    place = error.path if isinstance(error, VaultError) else ""
                    partial = search(self._own, limit, scope) if record else []
                    raise IndexBypassed(place, error, partial) from error
        best = {hit.key: hit for hit in hits if hit.key.document_id not in unseen}
        if unseen:
            newer = scope._replace(documents=unseen if scope.documents is None else unseen & scope.documents)
            best.update((hit.key, hit) for hit in search(self._own, limit, newer))
        return sorted(best.values(), key=lambda hit: (-hit.score, hit.key))[: max(limit, 0)]


@dataclass(eq=False)
class ServedLexical(IndexRouter[LexicalIndex]):
    """
    ``LexicalIndex`` that searches the serving index.

    Entries are written to the vault's own index in the same transaction as the records; the indexer later replicates
    them to the external index.
    """

    def __post_init__(self) -> None:
        own = self._own
        self.committing, self.put, self.remove = own.committing, own.put, own.remove
        self.clear, self.holding = own.clear, own.holding

    def marker(self) -> Marker | None:
        """Return the marker of the serving index."""
        return self._serving().marker()

    def optimize(self) -> None:
        """Optimize the serving index."""
        self._serving().optimize()

    def search(self, query: LexicalQuery, grain: Grain, limit: int, scope: Scope = EVERYTHING) -> list[Hit]:
        """Search as the port describes; raise `IndexBypassed` with the hits of the vault's own index as ``partial``."""
        return self._search(limit, scope, lambda index, *within: index.search(query, grain, *within))

    def count(self, grain: Grain) -> int:
        """Return the number of entries of a granularity; 0 for an index that cannot be read."""
        try:
            return self._serving().count(grain)
        except NOT_THERE:
            return 0

    def unknown_words(self, terms: Sequence[Term]) -> Mapping[str, UnknownWord]:
        """Return the words that the vault does not contain."""
        return self._own.unknown_words(terms) if isinstance(self._own, SpellingIndex) else {}


class ServedVectors(IndexRouter[VectorSearch]):
    """``VectorSearch`` of the serving external index, and of the vault's vectors for newer changes or without one."""

    def search(self, vector: Vector, limit: int, scope: Scope = EVERYTHING) -> list[Hit]:
        """Search as the port describes; raise `IndexBypassed` with the answer of the vault's vectors as ``partial``."""
        return self._search(limit, scope, lambda index, *within: index.search(vector, *within))

    def count(self) -> int:
        """Return the number of vectors in the serving index."""
        return self._serving().count()


class ExternalIndexes:
    """
    Indexes of the vault *records* that may be outside the vault file.

    ``vault`` is *records* with routers for its indexes, transactions and storage. A write goes to the records and can
    be found at once; the next `keep_up` replicates it to external indexes. ``lagging`` are the errors of replications
    that failed and are tried again, and ``healed`` the indexes that the last `keep_up` found damaged and rebuilt.
    """

    def __init__(self, records: Vault, engines: Engines, indexer: Indexer) -> None:
        self._records = records
        self.engines = engines
        self._indexer = indexer
        self.words: ExternalIndex[LexicalIndex] = ExternalIndex(records.outbox, engines, Role.LEXICAL)
        self.meaning: ExternalIndex[VectorIndex] = ExternalIndex(records.outbox, engines, Role.VECTORS)
        self.lagging: dict[Role, str] = {}
        self.healed: list[Role] = []
        self.vault = replace(
            records,
            lexical=ServedLexical(records.lexical, self.words),
            vectors=ServedVectors(records.embeddings, self.meaning),
            transactions=RoutedTransactions(self, records.transactions),
            storage=RoutedStorage(self, records.storage),
        )

    @property
    def backend(self) -> str:
        """Name of the backend of the indexes."""
        records = (index.record() for index in (self.words, self.meaning))
        return next((r.engine for r in records if r), OWN_BACKEND)

    def keep_up(self, progress: Progress = lambda done, total: None) -> None:
        """
        Bring every index up to date with the records; rebuild damaged, missing and outdated ones.

        Also deletes retired indexes.
        """
        self.lagging.clear()
        self.healed.clear()
        indexes: tuple[ExternalIndex[Any], ...] = (self.words, self.meaning)
        for index in indexes:
            try:
                before, own = index.record(), self._records.lexical
                if index is self.words and isinstance(own, FormedIndex) and own.is_outdated():
                    self.rebuild(index.role, progress, patience_s=0.0)
                    self.healed.append(index.role)
                    continue
                try:
                    opened = index.index()
                    if before and opened is not None:
                        with self._indexer.leased(index.role) as lease:
                            if lease:
                                self._indexer.catch_up(before, opened, lease)
                            else:
                                index.unseen(opened)  # without the lease, at least detect damage
                except IndexDamaged:
                    index.release()
                    after = index.record()
                    if before and after and before.generation == after.generation:  # else already replaced
                        self.build(index.role, before.engine, progress)
                        self.healed.append(index.role)
            except (*NOT_THERE, IndexBusy, LeaseLost) as error:
                self.lagging[index.role] = str(error)
        self.tidy()

    def move(self, backend: str, progress: Progress = lambda done, total: None) -> None:
        """
        Move the indexes to *backend*. The vault stays searchable; an interrupted move is begun again.

        Raises:
            ConfigError: The backend does not exist.
            IndexBusy, IndexUnavailable, ExtraMissing: The previous indexes continue to serve.
        """
        for index in (self.words, self.meaning):
            chosen, record = self.engines.named(backend), index.record()
            has_index = chosen.lexical if index.role is Role.LEXICAL else chosen.vectors
            engine = chosen.name if has_index else None
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
        if record and role is Role.LEXICAL and self._records.lexical.faults():
            with self._records.transactions.writing():
                self._fill_words(progress)

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
            self._discard(role, IndexState.BUILDING)
            outbox, transactions = self._records.outbox, self._records.transactions
            with transactions.writing():
                if engine is None:  # in one transaction; readers see the old index until it commits
                    outbox.serve(None, role)
                    if role is Role.VECTORS:
                        self._records.embeddings.rebuild()
                    else:
                        self._fill_words(progress)
                record = outbox.register(role, engine) if engine else None
            if record:
                # After a restore from a backup, generation numbers may be reused.
                self.engines.discard(record)
                index = self.engines.open(record)
                self._indexer.write(record, index, (), record.since, lease)
                for ids in self._batches(progress):
                    self._indexer.write(record, index, ids, record.since, lease)
                self._indexer.catch_up(record, index, lease)
                with transactions.writing():
                    lease.check()
                    self._indexer.refuse_outdated(record)
                    outbox.serve(record, role)
                # After the switch, because it may outlast the lease and does not affect results.
                with suppress(IndexBusy):
                    index.optimize()
        self.tidy()

    def tidy(self) -> None:
        """Delete retired indexes; those that cannot be reached are kept until the next call."""
        with suppress(*NOT_THERE):
            for role in Role:
                self._discard(role, IndexState.RETIRED)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Release the external indexes; the vault stays open."""
        self.words.release()
        self.meaning.release()

    def _fill_words(self, progress: Progress) -> None:
        """Fill the vault's own index of words, which also answers for changes that an external one has not seen."""
        self._records.lexical.clear()
        for ids in self._batches(progress):
            self._records.lexical.put(self._indexer.entries(ids))

    def _discard(self, role: Role, state: IndexState) -> None:
        for record in self._records.outbox.indexes():
            if record.role is role and record.state is state:
                self.engines.discard(record)
                with self._records.transactions.writing():
                    self._records.outbox.unregister(record)

    def _batches(self, progress: Progress) -> Iterator[list[int]]:
        total, done = sum(self._records.documents.collections().values()), 0
        for page in pages(self._records.documents):
            yield [document.id for document in page]
            done += len(page)
            progress(done, max(total, done))


class RoutedTransactions:
    """``Transactions`` of records whose changes are replicated to external indexes by the next `keep_up`."""

    def __init__(self, indexes: ExternalIndexes, own: Transactions) -> None:
        self._indexes = indexes
        self._own = own
        self.writing = own.writing

    @contextmanager
    def reading(self) -> Iterator[None]:
        """
        Let reads see the same state, unless an external index serves.

        An external index changes independently of the records, so that its answers need their latest state.
        """
        with self._own.reading() if self._indexes.backend == OWN_BACKEND else nullcontext():
            yield


class RoutedStorage:
    """``Storage`` of records together with their external indexes."""

    def __init__(self, indexes: ExternalIndexes, own: Storage) -> None:
        self._indexes = indexes
        self._own = own
        self.check = self._own.check  # the indexes report theirs through `DerivedIndex.faults`

    def info(self) -> VaultInfo:
        """Return the info of the records, with the backend of the indexes and the size of their files next to the vault."""
        info, vault = self._own.info(), self._indexes.vault
        size_bytes = info.size_bytes
        # Another process may just have replaced a file or a folder; unlike rglob, os.walk ignores that.
        for folder, _, names in os.walk(self._indexes.engines.folder):
            for name in names:
                with suppress(OSError):
                    size_bytes += Path(folder, name).stat().st_size
        return replace(
            info,
            backend=self._indexes.backend,
            size_bytes=size_bytes,
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
