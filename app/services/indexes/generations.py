"""Index generations: build a new index while the old one serves, then switch to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

from clawmem.app.services.indexes.engines import OWN, Engines
from clawmem.app.services.indexes.indexer import Indexer
from clawmem.app.services.indexes.serving import NOT_THERE, closing
from clawmem.ports.errors import IndexBusy, IndexDamaged
from clawmem.ports.indexes import DerivedIndex
from clawmem.ports.records import Document, IndexRecord, IndexState, Marker, Role
from clawmem.ports.storage import Lease

DOCUMENTS_AT_ONCE = 200

Progress = Callable[[int, int], None]


class Generations:
    """Builder of index generations of one vault; a build that was killed is resumed."""

    def __init__(self, engines: Engines, indexer: Indexer) -> None:
        self._stores = indexer.records
        self._engines = engines
        self._indexer = indexer

    def replace(
        self,
        role: Role,
        engine: str | None,
        progress: Progress = lambda done, total: None,
        *,
        anew: bool = False,
        patience_s: float = 0.0,
    ) -> None:
        """
        Build an index of *role* with *engine* (``None`` for the vault's own index), and switch to it.

        The old index serves until the new one is complete.

        Args:
            anew: Discard an unfinished earlier build instead of resuming it.
            patience_s: Seconds to wait for writers of other processes.

        Raises:
            IndexBusy: Another process is writing the indexes of this role.
            IndexUnavailable: The storage of the new index cannot be reached; the old index continues to serve.
        """
        with self._indexer.leased(role, patience_s) as lease:
            if lease is None:
                raise IndexBusy(f"{role} of this vault")
            record = self._begun(role, engine or OWN, anew)
            if engine is None:
                self._fill_own(record, lease, progress)
            else:
                self._build(record, lease, progress)
        self.tidy()

    def rebuild_own(self, role: Role, progress: Progress = lambda done, total: None) -> None:
        """Rebuild the vault's own index in one transaction; readers see the old one until it commits."""
        with self._stores.transactions.writing():
            if role is Role.VECTORS:
                self._stores.embeddings.rebuild()
                return
            self._stores.lexical.clear()
            for documents in self._batches(0, progress):
                self._put_words([document.id for document in documents])

    def tidy(self) -> None:
        """
        Delete retired indexes, and unregistered folders that a late reader may have recreated.

        Indexes that cannot be reached are kept until the next call.
        """
        beside = self._engines.beside()  # first: indexes are registered before their folder exists
        self._engines.discard_others(beside, self._stores.outbox.indexes())
        for record in self._stores.outbox.indexes():
            if record.state is IndexState.RETIRED:
                with suppress(*NOT_THERE):
                    self._give_up(record)

    def unfinished(self) -> list[IndexRecord]:
        """Return the records of builds that are in progress or were interrupted."""
        return [r for r in self._stores.outbox.indexes() if r.state is IndexState.BUILDING]

    # -- building -----------------------------------------------------------------------------------

    def _begun(self, role: Role, engine: str, anew: bool) -> IndexRecord:
        """Return the build to resume, or register a new one; other unfinished builds are discarded."""
        begun = [record for record in self.unfinished() if record.role is role]
        knows = self._stores.outbox.knows
        usable = [r for r in begun if r.engine == engine and not (anew or r.outdated) and knows(r.since)]
        for record in begun:
            if record not in usable[-1:]:
                self._give_up(record)
        return usable[-1] if usable else self._registered(role, engine)

    def _registered(self, role: Role, engine: str) -> IndexRecord:
        with self._stores.transactions.writing():
            record = self._stores.outbox.register(role, engine)
        # After a restore from a backup, generation numbers may be reused; discard an index left under this number.
        self._engines.discard(record)
        return record

    def _give_up(self, record: IndexRecord) -> None:
        self._engines.discard(record)
        with self._stores.transactions.writing():
            self._stores.outbox.unregister(record)

    def _build(self, record: IndexRecord, lease: Lease, progress: Progress) -> None:
        try:
            self._fill(record, lease, progress)
        except IndexDamaged:
            # A killed build may have left a damaged index, so start over once; a second failure is raised.
            self._give_up(record)
            self._fill(self._registered(record.role, record.engine), lease, progress)

    def _fill(self, record: IndexRecord, lease: Lease, progress: Progress) -> None:
        with closing(self._engines.open(record)) as index:
            self._refuse_another(record, index)
            for documents in self._batches(record.built_to, progress):
                self._indexer.fill(record, index, documents, lease)
            if index.marker() is None:  # a vault without documents
                self._indexer.stamp(record, index)
            self._indexer.catch_up(record, index, lease)
            self._take_over(record, index.marker() or record.since, lease)
            # After the switch, because it may outlast the lease and does not affect results.
            with suppress(IndexBusy):
                index.optimize()

    def _take_over(self, record: IndexRecord, marker: Marker, lease: Lease) -> None:
        with self._stores.transactions.writing():
            self._indexer.fence(lease)
            self._indexer.refuse_outdated(record)
            self._stores.outbox.serve(record, record.role)
            if record.role is Role.LEXICAL:
                self._stores.lexical.clear()
                newer = self._stores.outbox.after(marker, record.role).document_ids
                self._stores.lexical.put(self._indexer.entries(newer))

    def _refuse_another(self, record: IndexRecord, index: DerivedIndex) -> None:
        """Raise `IndexDamaged` unless a resumed *index* has a marker that matches the vault's history."""
        marker = index.marker()
        if record.built_to and (marker is None or not self._stores.outbox.knows(marker)):
            raise IndexDamaged(index.method, "it is not what was built so far")

    def _fill_own(self, record: IndexRecord, lease: Lease, progress: Progress) -> None:
        """Fill the vault's own index in several transactions; since its registration it also receives every change."""
        # The vectors are in the vault, whatever serves them.
        batches = self._batches(record.built_to, progress) if record.role is Role.LEXICAL else ()
        for documents in batches:
            ids = [document.id for document in documents]
            with self._stores.transactions.writing():
                lease = self._indexer.renewed(lease)
                self._put_words(ids)
                self._stores.outbox.built(record, ids[-1])
        with self._stores.transactions.writing():
            self._indexer.fence(lease)
            self._stores.outbox.serve(None, record.role)
            self._stores.outbox.unregister(record)

    def _put_words(self, ids: list[int]) -> None:
        for number in ids:
            self._stores.lexical.remove(number)
        self._stores.lexical.put(self._indexer.entries(ids))

    def _before(self, document_id: int) -> int:
        """Return the number of documents that an earlier build has already processed."""
        count = last = 0
        while last < document_id and (documents := self._stores.documents.following(last, DOCUMENTS_AT_ONCE)):
            count += sum(document.id <= document_id for document in documents)
            last = documents[-1].id
        return count

    def _batches(self, after: int, progress: Progress) -> Iterator[list[Document]]:
        total = sum(self._stores.documents.collections().values())
        done, last = self._before(after), after
        while documents := self._stores.documents.following(last, DOCUMENTS_AT_ONCE):
            yield documents
            done, last = done + len(documents), documents[-1].id
            progress(done, max(total, done))
