"""Vault facade for the application: records together with the indexes that serve them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from clawmem.app.services.indexes.engines import Engines
from clawmem.app.services.indexes.generations import Generations, Progress
from clawmem.app.services.indexes.indexer import Indexer
from clawmem.app.services.indexes.serving import NOT_THERE, ExternalIndex, ServedLexical, ServedVectors
from clawmem.app.services.indexes.stopgap import Stopgap
from clawmem.domain.maintenance.index_choice import wants_sidecar
from clawmem.ports.errors import IndexBusy, IndexDamaged, InterruptedAfterCommit, LeaseLost
from clawmem.ports.lexical_index import LexicalIndex
from clawmem.ports.records import LexicalEntry, Role
from clawmem.ports.vault import DelegatingVault, RecordVault
from clawmem.ports.vector_index import VectorIndex

if TYPE_CHECKING:
    from clawmem.ports.status import VaultInfo

SIDECAR = "sidecar"
OWN_BACKEND = "sqlite"
PATIENCE_S = 60.0  # wait for writers of other processes, for operations that the user requested explicitly
LAG = 2_000  # changes that may remain unreplicated until the end of a command; they are searched in the vault


class ServedVault(DelegatingVault):
    """
    ``Vault`` whose indexes may be outside the vault file.

    A write goes to the records and can be found at once; it is replicated to external indexes after its transaction.
    A failed replication never fails the write: its error is stored in ``lagging``, and the next `keep_up` retries.
    ``healed`` are the indexes that the last `keep_up` found damaged and rebuilt.
    """

    def __init__(self, records: RecordVault, engines: Engines, indexer: Indexer) -> None:
        super().__init__(records)
        self._engines = engines
        self._indexer = indexer
        self.generations = Generations(records, engines, indexer)
        self._words: ExternalIndex[LexicalIndex] = ExternalIndex(records.outbox, engines, Role.LEXICAL)
        self._meaning: ExternalIndex[VectorIndex] = ExternalIndex(records.outbox, engines, Role.VECTORS)
        self._lexical = ServedLexical(records, self._words, Stopgap(records, indexer.entries))
        self._vectors = ServedVectors(records, self._meaning)
        self.lagging: dict[Role, str] = {}
        self.healed: list[Role] = []

    @property
    def lexical(self) -> LexicalIndex:
        """Router of the lexical indexes."""
        return self._lexical

    @property
    def vectors(self) -> VectorIndex:
        """Router of the vector indexes."""
        return self._vectors

    @property
    def backend(self) -> str:
        """Name of the backend of the indexes; the vector sidecar, which the vault selects automatically, is ignored."""
        chosen = (outside.record() for outside in (self._words, self._meaning))
        return next((r.engine for r in chosen if r and r.engine != SIDECAR), OWN_BACKEND)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """
        Let reads see the same state as `clawmem.ports.vault.Vault.reading` does, unless an external index serves.

        An external index changes independently of the records, so that its answers need their latest state.
        """
        with ExitStack() as snapshot:
            snapshot.enter_context(super().reading())
            if self._words.record() or self._meaning.record():
                snapshot.close()
            yield

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Open a write transaction as `clawmem.ports.vault.Vault.writing` does, then replicate if the lag is large."""
        with super().writing():
            yield
        for outside in (self._words, self._meaning):
            record = outside.record()
            if record and self.outbox.head().seq - record.since.seq > LAG:
                try:
                    self._carry(outside)
                except KeyboardInterrupt as interruption:
                    raise InterruptedAfterCommit from interruption

    def info(self) -> VaultInfo:
        """Return `clawmem.ports.vault.Vault.info`; the size includes index files next to the vault."""
        info = super().info()
        from dataclasses import replace

        return replace(info, backend=self.backend, size_bytes=info.size_bytes + self._engines.size_bytes())

    def scrub(self) -> None:
        """
        Scrub as `clawmem.ports.vault.Vault.scrub` does, and rebuild external indexes, which keep deleted words.

        An external index holds deleted words until it merges its segments.

        Raises:
            IndexBusy, IndexUnavailable: The records were not scrubbed; call it again later.
        """
        for outside in (self._words, self._meaning):
            if outside.record():
                self.rebuild(outside.role, patience_s=0.0)  # the caller retries
        super().scrub()

    def check_words(self, entries: Iterable[Sequence[LexicalEntry]]) -> list[str]:
        """Compare the words of the vault's own index; next to an external one it holds only newer documents."""
        if self._words.record() is None:
            return super().check_words(entries)
        if self._words.own_is_complete():  # it is being filled
            return []
        newer = self._words.newer()
        return super().check_words([e for e in batch if e.key.document_id in newer] for batch in entries)

    # -- maintenance --------------------------------------------------------------------------------

    def keep_up(self, progress: Progress = lambda done, total: None) -> None:
        """
        Bring every index up to date with the records; rebuild damaged or missing ones.

        Also moves the vectors between the vault's own table and the sidecar if their number requires it, and deletes
        retired indexes.
        """
        self.lagging.clear()
        self.healed.clear()
        for outside in (self._words, self._meaning):
            self._heal(outside, progress)
        self._choose_vectors(progress)
        self._attempt(Role.VECTORS, self.generations.tidy)

    def move(self, backend: str, progress: Progress = lambda done, total: None) -> None:
        """
        Move the indexes to *backend*. An interrupted move can be resumed, and the vault stays searchable.

        Raises:
            ConfigError: The backend does not exist.
            IndexBusy, IndexUnavailable, BackendUnavailable: The previous indexes continue to serve.
        """
        for outside in (self._words, self._meaning):
            engine = self._engines.engine_for(outside.role, backend)
            record = outside.record()
            kept_by = None if record is None or record.engine == SIDECAR else record.engine
            if kept_by == engine:
                continue
            outside.release()
            self.generations.replace(outside.role, engine, progress, patience_s=PATIENCE_S)
        self._choose_vectors(progress)

    def rebuild(
        self, role: Role, progress: Progress = lambda done, total: None, *, patience_s: float = PATIENCE_S
    ) -> None:
        """
        Rebuild the serving index of *role* from the records while the old one serves, then switch to the new one.

        Raises:
            IndexBusy: Another process held the write lease for longer than *patience_s*.
        """
        outside = self._words if role is Role.LEXICAL else self._meaning
        record = outside.record()
        if record:
            self.generations.replace(role, record.engine, progress, anew=True, patience_s=patience_s)
        else:
            self.generations.rebuild_own(role, progress)

    def _heal(self, outside: ExternalIndex[Any], progress: Progress) -> None:
        before = outside.record()

        def run() -> None:
            try:
                self._catch_up(outside)
            except IndexDamaged:
                outside.release()
                after = outside.record()
                if before and after and before.generation == after.generation:  # else already replaced
                    self.generations.replace(outside.role, before.engine, progress)
                    self.healed.append(outside.role)

        self._attempt(outside.role, run)

    def _carry(self, outside: ExternalIndex[Any]) -> None:
        """Replicate changes to the external index; repair of a damaged index is left to `keep_up`."""
        self._attempt(outside.role, lambda: self._catch_up(outside))

    def _catch_up(self, outside: ExternalIndex[Any]) -> None:
        record, index = outside.record(), outside.index()
        if record is None or index is None:
            return
        with self._indexer.leased(outside.role) as lease:
            if lease:
                self._indexer.catch_up(record, index, lease)
            else:
                outside.unseen(index)  # without the lease, at least detect damage

    def _attempt(self, role: Role, action: Callable[[], None]) -> None:
        try:
            action()
        except (*NOT_THERE, IndexBusy, LeaseLost) as error:
            self.lagging[role] = str(error)

    def _choose_vectors(self, progress: Progress) -> None:
        self._attempt(Role.VECTORS, lambda: self._choose(progress))

    def _choose(self, progress: Progress) -> None:
        record = self._meaning.record()
        if record and record.engine != SIDECAR:
            return
        wanted = wants_sidecar(self._vectors.count(), record is not None)
        if wanted != (record is not None):
            self._meaning.release()
            self.generations.replace(Role.VECTORS, SIDECAR if wanted else None, progress)
