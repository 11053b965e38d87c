"""The vault as everything above it sees it: records, and whichever indexes serve them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from clawmem.app.services.indexes.engines import Engines
from clawmem.app.services.indexes.generations import Generations, Progress
from clawmem.app.services.indexes.indexer import Indexer
from clawmem.app.services.indexes.serving import NOT_THERE, Outside, ServedLexical, ServedVectors
from clawmem.app.services.indexes.stopgap import Stopgap
from clawmem.domain.maintenance.index_choice import wants_sidecar
from clawmem.ports.errors import IndexBusy, IndexDamaged, LeaseLost
from clawmem.ports.lexical_index import LexicalIndex
from clawmem.ports.records import Role
from clawmem.ports.vault import DelegatingVault, RecordVault
from clawmem.ports.vector_index import VectorIndex

if TYPE_CHECKING:
    from clawmem.ports.vault_info import VaultInfo

SIDECAR = "sidecar"
OWN_BACKEND = "sqlite"
PATIENCE_S = 60.0  # with writers of other processes, for what somebody asked for by name
LAG = 2_000  # changes that may wait for the end of a command; until then they are searched in the vault


class ServedVault(DelegatingVault):
    """
    ``Vault`` whose indexes may lie outside of the records.

    A write is in the records and can be found at once; it is carried outside after its transaction. What
    goes wrong there never fails the write: ``lagging`` says it, and the next `keep_up` tries again.
    """

    def __init__(self, records: RecordVault, engines: Engines, indexer: Indexer) -> None:
        super().__init__(records)
        self._engines = engines
        self._indexer = indexer
        self.generations = Generations(records, engines, indexer)
        self._words: Outside[LexicalIndex] = Outside(records.outbox, engines, Role.LEXICAL)
        self._meaning: Outside[VectorIndex] = Outside(records.outbox, engines, Role.VECTORS)
        self._lexical = ServedLexical(records, self._words, Stopgap(records, indexer.entries))
        self._vectors = ServedVectors(records, self._meaning)
        self.lagging: dict[Role, str] = {}

    @property
    def lexical(self) -> LexicalIndex:
        return self._lexical

    @property
    def vectors(self) -> VectorIndex:
        return self._vectors

    @property
    def backend(self) -> str:
        """Which backend keeps the indexes: the one engine that the vault did not choose by itself."""
        chosen = (outside.record() for outside in (self._words, self._meaning))
        return next((r.engine for r in chosen if r and r.engine != SIDECAR), OWN_BACKEND)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """See `clawmem.ports.vault.Vault.writing`."""
        with super().writing():
            yield
        for outside in (self._words, self._meaning):
            record = outside.record()
            if record and self.outbox.head().seq - record.since.seq > LAG:
                self._carry(outside)

    def info(self) -> VaultInfo:
        """See `clawmem.ports.vault.Vault.info`; what lies beside the vault is counted."""
        info = super().info()
        from dataclasses import replace

        return replace(info, backend=self.backend, size_bytes=info.size_bytes + self._engines.size_bytes())

    def scrub(self) -> None:
        """
        See `clawmem.ports.vault.Vault.scrub`; an index outside is made anew, for it keeps words until it merges.

        Raises:
            IndexBusy, IndexUnavailable: nothing was scrubbed; it may be asked again.
        """
        for outside in (self._words, self._meaning):
            if outside.record():
                self.rebuild(outside.role, patience_s=0.0)  # it is asked for again
        super().scrub()

    # -- upkeep -------------------------------------------------------------------------------------

    def keep_up(self, progress: Progress = lambda done, total: None) -> None:
        """
        Bring every index up to the records: what lags catches up, what is broken or gone is made anew.

        Also lets the vectors change between the vault's own table and the sidecar when their number asks
        for it, and deletes what no longer serves.
        """
        self.lagging.clear()
        for outside in (self._words, self._meaning):
            self._heal(outside, progress)
        self._choose_vectors(progress)
        self._attempt(Role.VECTORS, self.generations.tidy)

    def move(self, backend: str, progress: Progress = lambda done, total: None) -> None:
        """
        Let *backend* keep the indexes from now on; resumable, searchable throughout.

        Raises:
            ConfigError: no such backend.
            IndexBusy, IndexUnavailable, BackendUnavailable: what served before goes on serving.
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
        Make the index that serves a role anew from the records, beside the old one, and flip.

        Raises:
            IndexBusy: another process wrote it for longer than *patience_s*.
        """
        outside = self._words if role is Role.LEXICAL else self._meaning
        record = outside.record()
        if record:
            self.generations.replace(role, record.engine, progress, anew=True, patience_s=patience_s)
        else:
            self.generations.rebuild_own(role, progress)

    def _heal(self, outside: Outside[Any], progress: Progress) -> None:
        before = outside.record()

        def run() -> None:
            try:
                self._catch_up(outside)
            except IndexDamaged:
                outside.release()
                after = outside.record()
                if before and after and before.generation == after.generation:  # else somebody was faster
                    self.generations.replace(outside.role, before.engine, progress)

        self._attempt(outside.role, run)

    def _carry(self, outside: Outside[Any]) -> None:
        """Carry changes outside; a broken index is left to `keep_up`."""
        self._attempt(outside.role, lambda: self._catch_up(outside))

    def _catch_up(self, outside: Outside[Any]) -> None:
        record, index = outside.record(), outside.index()
        if record is None or index is None:
            return
        with self._indexer.leased(outside.role) as lease:
            if lease:
                self._indexer.catch_up(record, index, lease)
            else:
                outside.unseen(index)  # who may not write can still see that it is broken

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
