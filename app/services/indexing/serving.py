"""Index router: queries go to the serving index, and changes it has not seen yet are searched separately."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from threading import Lock
from time import monotonic
from typing import Any, Generic, TypeVar, cast

from clawmem.app.services.indexing.replication import Engines
from clawmem.domain.retrieval.bm25 import rarity
from clawmem.ports.errors import ExtraMissing, IndexBypassed, IndexDamaged, IndexUnavailable, VaultError
from clawmem.ports.indexes import (
    DerivedIndex,
    LexicalIndex,
    LexicalTail,
    Outbox,
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

Index = TypeVar("Index", bound=DerivedIndex)
Search = TypeVar("Search", bound="LexicalIndex | VectorSearch")

NOT_THERE = (IndexUnavailable, IndexDamaged, ExtraMissing)
REST_S = 2.0  # pause before an unreachable index is tried again
ATTEMPTS = 3  # to answer between two commits of the indexer, which takes longer than an answer


class ExternalIndex(Generic[Index]):
    """Handle of the external index that serves a role; it is reopened when another generation takes over."""

    def __init__(self, outbox: Outbox, engines: Engines, role: Role) -> None:
        self._outbox = outbox
        self._engines = engines
        self.role = role
        self._opening = Lock()
        self._opened: tuple[int, Index] | None = None  # generation and index
        self._lost: tuple[IndexUnavailable, float] | None = None  # error, and when to try again

    def record(self) -> IndexRecord | None:
        """Return the registry record of the serving index; ``None`` while the vault's own index serves."""
        records = self._outbox.indexes()
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
                    self._opened = record.generation, cast("Index", self._engines.open(record))
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

    def unseen(self, index: Index) -> tuple[int, ...]:
        """
        Return the ids of documents whose latest change the index has not seen.

        Raises:
            IndexDamaged: The marker is not in this vault's history, or the index went back to a state older than its
                registration, so that entries already removed from the vault's own index are missing.
        """
        record, marker = self.record(), index.marker()
        while marker is None or not self._outbox.knows(marker):
            # Another process may have moved the marker since it was read, and the outbox prunes fully replicated changes.
            before, marker = marker, index.marker()
            if marker == before:
                raise IndexDamaged(index.method, "it does not belong to the vault as it is now")
        if record and self.role is Role.LEXICAL and marker.seq < record.since.seq:
            raise IndexDamaged(index.method, "it is older than it was")
        return self._outbox.after(marker, self.role).document_ids

    def release(self) -> None:
        """Drop the reference to the open index without closing it; other threads may still be using it."""
        self._opened = None

    def close(self) -> None:
        """Close the open index."""
        opened, self._opened = self._opened, None
        if opened:
            opened[1].close()


class IndexRouter(Generic[Search]):
    """Common part of the index routers of both roles."""

    def __init__(self, own: Search, outside: ExternalIndex[Any]) -> None:
        self._own = own
        self._outside = outside

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

    def close(self) -> None:
        """Close the external index."""
        self._outside.close()

    def _serving(self) -> Search:
        return self._outside.index() or self._own

    def _search(
        self,
        limit: int,
        search: Callable[[Search, int], list[Hit]],
        newer: Callable[[Search, frozenset[int]], list[Hit]],
    ) -> list[Hit]:
        """
        Return the best *limit* hits, during whose search no changes were replicated and no other index took over.

        Both events remove entries from the vault's own index, so that a query of two indexes one after the other
        could find an entry in neither. Both change the registry in the same transaction, which makes them detectable.

        Args:
            search: Searches an index for the best hits of a number.
            newer: Searches the vault for the documents whose latest change the index has not seen.
        """
        for attempt in range(1, ATTEMPTS + 1):
            record, failure = self._outside.record(), None
            try:
                index, unseen, recent = self._outside.index(), frozenset[int](), list[Hit]()
                if index is None:
                    hits = search(self._own, limit)
                else:
                    with self._outside.watched():
                        hits, unseen = self._seen(index, limit, search)
                        recent = newer(index, unseen) if unseen else []
            except NOT_THERE as error:
                failure = error
            if self._outside.record() == record or attempt == ATTEMPTS:
                break
        if failure:
            place = failure.path if isinstance(failure, VaultError) else ""
            partial = search(self._own, limit) if record else []
            raise IndexBypassed(place, failure, partial) from failure
        if index is None:
            return hits
        best = {hit.key: hit for hit in hits if hit.key.document_id not in unseen}
        best.update((hit.key, hit) for hit in recent)
        return sorted(best.values(), key=lambda hit: (-hit.score, hit.key))[: max(limit, 0)]

    def _seen(
        self, index: Search, limit: int, search: Callable[[Search, int], list[Hit]]
    ) -> tuple[list[Hit], frozenset[int]]:
        """Return hits of *index*, *limit* of them in documents that it has seen, and the other documents."""
        unseen, wanted = frozenset(self._outside.unseen(index)), limit
        hits = search(index, wanted)
        while len(hits) == wanted and sum(hit.key.document_id not in unseen for hit in hits) < limit:
            wanted *= 2
            hits = search(index, wanted)
        return hits, unseen


class ServedLexical(IndexRouter[LexicalIndex]):
    """
    ``LexicalIndex`` that searches the serving index, and the vault's own index for newer changes.

    Entries are written to the vault's own index in the same transaction as the records; the indexer later replicates
    them to the external index. While the serving index is lost or damaged, only the newer changes are found.
    """

    _own: LexicalTail
    _outside: ExternalIndex[LexicalIndex]

    def __init__(self, tail: LexicalTail, outside: ExternalIndex[LexicalIndex]) -> None:
        super().__init__(tail, outside)
        # The vault's own index receives all writes.
        self.committing, self.put, self.remove = tail.committing, tail.put, tail.remove

    def marker(self) -> Marker | None:
        """Return the marker of the serving index."""
        return self._serving().marker()

    def clear(self) -> None:
        """Empty the vault's own index and the serving index, which is then rebuilt by the next maintenance."""
        with suppress(*NOT_THERE):
            self._serving().clear()
        self._own.clear()

    def optimize(self) -> None:
        """Optimize the serving index."""
        self._serving().optimize()

    def search(self, query: LexicalQuery, grain: Grain, limit: int, scope: Scope = EVERYTHING) -> list[Hit]:
        """Search as the port describes; raise `IndexBypassed` with the hits among newer changes as ``partial``."""

        def newer(index: LexicalIndex, unseen: frozenset[int]) -> list[Hit]:
            # The statistics of the larger index make the scores of both comparable.
            larger = index if index.count(grain) >= self._own.count(grain) else self._own
            total = larger.count(grain)
            rarities = {term: rarity(total, larger.holding(term, grain)) for term in query.terms}
            return self._own.search_among(unseen, query, grain, limit, scope, rarities)

        return self._search(limit, lambda index, number: index.search(query, grain, number, scope), newer)

    def count(self, grain: Grain) -> int:
        """Return the number of entries of a granularity; 0 for an index that cannot be read."""
        return self._counted(lambda index: index.count(grain))

    def holding(self, term: Term, grain: Grain) -> int:
        """Return the number of entries that hold *term*; 0 for an index that cannot be read."""
        return self._counted(lambda index: index.holding(term, grain))

    def unknown_words(self, terms: Sequence[Term]) -> Mapping[str, UnknownWord]:
        """Return the words that the vault's own index does not contain; none while an external index serves."""
        return self._own.unknown_words(terms) if self._outside.record() is None else {}

    def _counted(self, ask: Callable[[LexicalIndex], int]) -> int:
        try:
            return ask(self._serving())
        except NOT_THERE:
            return 0


class ServedVectors(IndexRouter[VectorSearch]):
    """``VectorSearch`` of the serving external index, and of the vault's vectors for newer changes or without one."""

    _outside: ExternalIndex[VectorIndex]

    def search(self, vector: Vector, limit: int, scope: Scope = EVERYTHING) -> list[Hit]:
        """Search as the port describes; raise `IndexBypassed` with the answer of the vault's vectors as ``partial``."""

        def newer(index: VectorSearch, unseen: frozenset[int]) -> list[Hit]:
            documents = unseen if scope.documents is None else unseen & scope.documents
            return self._own.search(vector, limit, scope._replace(documents=documents))

        return self._search(limit, lambda index, number: index.search(vector, number, scope), newer)

    def count(self) -> int:
        """Return the number of vectors in the serving index."""
        return self._serving().count()
