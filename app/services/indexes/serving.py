"""Which index answers, and what it has not seen yet: the newest changes are searched beside it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from threading import Lock
from time import monotonic
from typing import Generic, TypeVar, cast

from clawmem.app.services.indexes.engines import OWN, Engines
from clawmem.app.services.indexes.stopgap import Stopgap
from clawmem.domain.retrieval.bm25 import rarity
from clawmem.ports.derived_index import DerivedIndex
from clawmem.ports.errors import (
    BackendUnavailable,
    IndexDamaged,
    IndexUnavailable,
    VaultError,
)
from clawmem.ports.lexical_index import LexicalIndex
from clawmem.ports.outbox import Outbox
from clawmem.ports.records import (
    EVERYTHING,
    FragmentKey,
    Grain,
    Hit,
    IndexRecord,
    IndexState,
    LexicalEntry,
    LexicalQuery,
    Marker,
    Role,
    Scope,
    Term,
    Vector,
    VectorEntry,
)
from clawmem.ports.vault import RecordVault
from clawmem.ports.vault_errors import IndexBypassed
from clawmem.ports.vector_index import VectorIndex

Index = TypeVar("Index", bound=DerivedIndex)
Ask = Callable[[int], Sequence[Hit]]  # the best so many

NOT_THERE = (IndexUnavailable, IndexDamaged, BackendUnavailable)
REST_S = 2.0  # before an index that cannot be reached is tried again
ATTEMPTS = 3  # to answer between two commits of the indexer, which are further apart than an answer takes


class Outside(Generic[Index]):
    """The index outside that serves a role right now; opened anew when another generation takes over."""

    def __init__(self, outbox: Outbox, engines: Engines, role: Role) -> None:
        self._outbox = outbox
        self._engines = engines
        self.role = role
        self._opening = Lock()
        self._opened: tuple[int, Index] | None = None  # its generation, and itself
        self._lost: tuple[IndexUnavailable, float] | None = None  # until when it is not tried again

    def record(self) -> IndexRecord | None:
        """What the registry says of it; ``None`` while the vault itself serves."""
        return next((r for r in self._of_role() if r.state is IndexState.SERVING), None)

    def own_is_complete(self) -> bool:
        """Whether the vault's own index takes every change: it serves, or is being filled to serve again."""
        return self.record() is None or any(r.engine == OWN for r in self._of_role())

    def index(self) -> Index | None:
        """
        The index; ``None`` while the vault itself serves.

        Raises:
            IndexDamaged, IndexUnavailable, BackendUnavailable: it cannot be opened, or is outdated.
        """
        return self.index_of(self.record())

    def index_of(self, record: IndexRecord | None) -> Index | None:
        """As `index`, of what the registry was just seen to say."""
        if record is None:
            self.release()
            return None
        if record.outdated:
            raise IndexDamaged(record.engine, "its vectors are another model's than those that serve now")
        with self._opening:  # or each leg of the first question would open one
            self._refuse_while_resting()
            if self._opened is None or self._opened[0] != record.generation:
                with self.watched():
                    self._opened = record.generation, cast("Index", self._engines.open(record))
            return self._opened[1]

    @contextmanager
    def watched(self) -> Iterator[None]:
        """What is asked of the index: when it cannot be reached, it is not tried again for a while."""
        try:
            yield
        except IndexUnavailable as error:
            # A question asks several times, and each would wait as long for a store that hangs.
            self._lost = error, monotonic() + REST_S
            raise

    def _refuse_while_resting(self) -> None:
        if self._lost and monotonic() < self._lost[1]:
            error = self._lost[0]
            raise IndexUnavailable(error.path, error.reason) from error

    def unseen(self, index: Index) -> tuple[int, ...]:
        """
        The documents whose newest change the index has not seen.

        Raises:
            IndexDamaged: its marker is none of this vault's history, or the vault's own index has let go of
                words that it has lost since.
        """
        record, marker = self.record(), index.marker()
        while marker is None or not self._outbox.knows(marker):
            # Another process may have carried changes since it was read, and the outbox forgets what all have seen.
            before, marker = marker, index.marker()
            if marker == before:
                raise IndexDamaged(index.method, "it does not belong to the vault as it is now")
        if record and self.role is Role.LEXICAL and marker.seq < record.since.seq:
            raise IndexDamaged(index.method, "it is older than it was")
        return self._outbox.after(marker, self.role).document_ids

    def release(self) -> None:
        """Let go of what is open; another thread that is asking it just now gets its answer."""
        self._opened = None

    def close(self) -> None:
        """Close what is open."""
        opened, self._opened = self._opened, None
        if opened:
            opened[1].close()

    def _of_role(self) -> Iterator[IndexRecord]:
        return (record for record in self._outbox.indexes() if record.role is self.role)


class Served(Generic[Index]):
    """What both roles have in common: everything but searching is done by whoever serves."""

    def __init__(self, own: Index, outside: Outside[Index]) -> None:
        self._own = own
        self._outside = outside

    @property
    def method(self) -> str:
        try:
            return self._serving().method
        except NOT_THERE as error:
            return f"none: {error}"

    @property
    def in_process(self) -> bool:
        """Whether the vault itself serves; what serves outside of it may lie in a store far away."""
        return self._outside.record() is None

    def marker(self) -> Marker | None:
        return self._serving().marker()

    def committing(self, marker: Marker | None = None) -> AbstractContextManager[None]:
        return self._own.committing(marker)

    def clear(self) -> None:
        """Empty the vault's own index, and whoever serves: it is then made anew at the next occasion."""
        with suppress(*NOT_THERE):
            self._serving().clear()
        self._own.clear()

    def optimize(self) -> None:
        self._serving().optimize()

    def faults(self) -> list[str]:
        try:
            index = self._outside.index()
            if index is None:
                return self._own.faults()
            self._outside.unseen(index)
            return [*self._own.faults(), *index.faults()]
        except NOT_THERE as error:
            return [str(error)]

    def close(self) -> None:
        self._outside.close()

    def _serving(self) -> Index:
        return self._outside.index() or self._own

    def _settled(self, ask: Callable[[IndexRecord | None], list[Hit]]) -> list[Hit]:
        """
        An answer during which nothing was carried outside, and nobody took over.

        Either takes away from the vault's own index what an answer that looks at two indexes, one after the
        other, would then find in neither. Both change the registry in the same transaction.
        """
        for _ in range(ATTEMPTS - 1):
            before = self._outside.record()
            try:
                answer = ask(before)
            except IndexUnavailable:
                if self._outside.record() == before:
                    raise
            else:
                if self._outside.record() == before:
                    return answer
        return ask(self._outside.record())


class ServedLexical(Served[LexicalIndex]):
    """
    ``LexicalIndex`` that asks whoever serves, and the vault's own index for what is newer.

    Entries are put into the vault's own index, in the same transaction as the records; from there
    the indexer carries them outside.
    """

    def __init__(self, records: RecordVault, outside: Outside[LexicalIndex], stopgap: Stopgap) -> None:
        super().__init__(records.lexical, outside)
        self._tail = records.lexical
        self._stopgap = stopgap

    def put(self, entries: Sequence[LexicalEntry]) -> None:
        self._own.put(entries)

    def remove(self, document_id: int) -> None:
        self._own.remove(document_id)

    def search(self, query: LexicalQuery, grain: Grain, limit: int, scope: Scope = EVERYTHING) -> list[Hit]:
        """See the port. Raises `IndexBypassed` with the answer of the records as ``partial``."""
        return self._settled(lambda record: self._found(record, query, grain, limit, scope))

    def count(self, grain: Grain) -> int:
        return self._told(lambda index: index.count(grain))

    def holding(self, term: Term, grain: Grain) -> int:
        return self._told(lambda index: index.holding(term, grain))

    def close(self) -> None:
        super().close()
        self._stopgap.close()

    def _told(self, ask: Callable[[LexicalIndex], int]) -> int:
        """A number about the entries; of the records while the index that serves cannot say."""
        try:
            return ask(self._serving())
        except NOT_THERE:
            return ask(self._stopgap.index())

    def _found(
        self, record: IndexRecord | None, query: LexicalQuery, grain: Grain, limit: int, scope: Scope
    ) -> list[Hit]:
        try:
            index = self._outside.index_of(record)
            if index is None:
                return self._own.search(query, grain, limit, scope)
            with self._outside.watched():
                unseen = self._outside.unseen(index)
                if not unseen:
                    return index.search(query, grain, limit, scope)
                older = _without(unseen, limit, lambda n: index.search(query, grain, n, scope))
                rarities = {term: self._rarity(index, term, grain) for term in query.terms}
        except NOT_THERE as error:
            raise _bypassed(error, self._stopgap.index().search(query, grain, limit, scope)) from error
        newer = self._tail.search_among(unseen, query, grain, limit, scope, rarities)
        return _best(older, newer, limit)

    def _rarity(self, index: LexicalIndex, term: Term, grain: Grain) -> float:
        """As it counts for what the index outside finds, so that scores compare; unless nearly all is newer."""
        telling = index if index.count(grain) >= self._own.count(grain) else self._own
        return rarity(telling.count(grain), telling.holding(term, grain))


class ServedVectors(Served[VectorIndex]):
    """``VectorIndex`` that asks whoever serves, and compares with the canonical vectors of what is newer."""

    def __init__(self, records: RecordVault, outside: Outside[VectorIndex]) -> None:
        super().__init__(records.vectors, outside)
        self._embeddings = records.embeddings

    def put(self, entries: Iterable[VectorEntry]) -> None:
        """Into the vault's own index while that serves; else the records are enough for the indexer."""
        if self._outside.own_is_complete():
            self._own.put(entries)

    def remove(self, document_id: int) -> None:
        if self._outside.own_is_complete():
            self._own.remove(document_id)

    def search(self, vector: Vector, limit: int, scope: Scope = EVERYTHING) -> list[Hit]:
        """See the port. Raises `IndexBypassed` with the answer of an exact scan of the records as ``partial``."""
        return self._settled(lambda record: self._found(record, vector, limit, scope))

    def count(self) -> int:
        return self._serving().count()

    def _found(self, record: IndexRecord | None, vector: Vector, limit: int, scope: Scope) -> list[Hit]:
        try:
            index = self._outside.index_of(record)
            if index is None:
                return self._own.search(vector, limit, scope)
            with self._outside.watched():
                unseen = self._outside.unseen(index)
                older = _without(unseen, limit, lambda n: index.search(vector, n, scope))
        except NOT_THERE as error:
            raise _bypassed(error, self._embeddings.nearest(vector, limit, scope)) from error
        newer = self._embeddings.nearest(vector, limit, scope, documents=unseen) if unseen else []
        return _best(older, newer, limit)


def _best(older: Sequence[Hit], newer: Sequence[Hit], limit: int) -> list[Hit]:
    best: dict[FragmentKey, Hit] = {hit.key: hit for hit in (*older, *newer)}
    return sorted(best.values(), key=lambda hit: (-hit.score, hit.key))[: max(limit, 0)]


def _without(unseen: Collection[int], limit: int, ask: Ask) -> list[Hit]:
    """The best *limit* hits of other documents; asks for more when those that are left out took their places."""
    left_out = frozenset(unseen)
    wanted = limit
    while True:
        hits = ask(wanted)
        kept = [hit for hit in hits if hit.key.document_id not in left_out]
        if len(kept) >= limit or len(hits) < wanted:
            return kept[: max(limit, 0)]
        wanted *= 2


def _bypassed(error: VaultError | BackendUnavailable, answer: Sequence[Hit]) -> IndexBypassed:
    place = error.path if isinstance(error, VaultError) else error.backend
    return IndexBypassed(place, error, answer)


@contextmanager
def closing(index: DerivedIndex) -> Iterator[DerivedIndex]:
    """Close *index* however the block ends."""
    try:
        yield index
    finally:
        index.close()
