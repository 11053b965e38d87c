"""Lease that lets one process work in a lane."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from clawmem.app.services.maintenance.deciding import Fence
from clawmem.domain.capture.notes import COLLECTION
from clawmem.domain.maintenance.selection import (
    NEIGHBOURS,
    NEWEST_FIRST,
    STALE_FIRST,
    SURPRISAL,
    SURPRISAL_FALLBACK,
    newest_first,
    stale_first,
    surprising_first,
)
from clawmem.ports.clock import Clock
from clawmem.ports.errors import LeaseLost, VaultError
from clawmem.ports.lease import LeaseStore
from clawmem.ports.records import Document, Lease, Scope, Vector
from clawmem.ports.stores import DocumentsWithAnswerLog

LEASE_MS = 30_000  # also the pause in work after a process on another machine died
RENEWED_EVERY_MS = 10_000


class Lane:
    """
    Renewable lease on the work *name*.

    The lease only avoids duplicate work; it does not protect data. Work that may outlast the lease must be safe when
    two processes do it, or call `check` in the transaction of each effect.
    """

    def __init__(
        self,
        name: str,
        leases: LeaseStore,
        clock: Clock,
        holder: str,
        is_gone: Callable[[str], bool],
        *,
        lease_ms: int = LEASE_MS,
    ) -> None:
        self._name = name
        self._leases = leases
        self._clock = clock
        self._holder = holder
        self._is_gone = is_gone
        self._lease_ms = lease_ms
        self._lease: Lease | None = None

    def enter(self) -> bool:
        """
        Acquire the lease, taking it over at once from a killed process; False while another process holds it.

        Raises:
            VaultError: the vault cannot be written at the moment.
        """
        if who := self.taken_by():
            if not self._is_gone(who.holder):
                return False
            self._leases.release(who)
        now_ms = self._clock.now_ms()
        self._lease = self._leases.acquire(self._name, self._holder, now_ms=now_ms, ttl_ms=self._lease_ms)
        return self._lease is not None

    def taken_by(self) -> Lease | None:
        """Return the current lease, or ``None`` if no process holds it."""
        return self._leases.current(self._name, now_ms=self._clock.now_ms())

    def keep(self) -> None:
        """
        Renew the lease when renewal is due, also after it expired if no other process took it. Call this often.

        Raises:
            LeaseLost: another process holds the lease, or held it in between and may have worked.
        """
        lease, now_ms = self._lease, self._clock.now_ms()
        if lease is None or lease.expires_ms - now_ms > self._lease_ms - RENEWED_EVERY_MS:
            return
        try:
            self._lease = self._leases.renew(lease, now_ms=now_ms, ttl_ms=self._lease_ms)
        except VaultError:
            return  # another process is writing; the next call tries again

    def check(self) -> None:
        """
        Pass while this process holds the lease with its current fencing token.

        Raises:
            LeaseLost: otherwise; the surrounding transaction must be rolled back.
        """
        if self._lease is None:
            raise LeaseLost(self._name, self._holder)
        self._leases.check(self._lease, now_ms=self._clock.now_ms())

    def leave(self) -> None:
        """Release the lease; if that fails, it expires."""
        lease, self._lease = self._lease, None
        if lease:
            with suppress(VaultError):
                self._leases.release(lease)


SCORED = 300  # most observations whose nearest neighbours are searched
_FRAGMENTS = 4  # fragments of one document that may precede the next document in the hits


class ObservationSelection(NamedTuple):
    """Selected *documents*, the name of the selector, and *among*: all served observations."""

    selector: str
    documents: Sequence[Document]
    among: Sequence[Document]

    @property
    def told(self) -> dict[str, Any]:
        """Return the selector for the journal; for surprisal also the number of documents."""
        counted = {"candidateCount": len(self.documents)} if self.selector == SURPRISAL else {}
        return {"selector": self.selector, **counted}


class ObservationSelector:
    """Selects among the served observations of the collection that machines write."""

    def __init__(self, vault: DocumentsWithAnswerLog) -> None:
        self._vault = vault

    def newest(self, limit: int) -> ObservationSelection:
        """Select the most recently written observations."""
        served = self._served()
        return ObservationSelection(NEWEST_FIRST, newest_first(served, limit), served)

    def stale(self, limit: int) -> ObservationSelection:
        """Select the observations that were recalled least recently."""
        served = self._served()
        return ObservationSelection(STALE_FIRST, stale_first(served, self.recalled_at(), limit), served)

    def surprising(self, limit: int, fence: Fence) -> ObservationSelection:
        """Select the observations with the most distant neighbours; the stale ones if too few have vectors."""
        served = self._served()
        pool = {one.id: one for one in stale_first(served, self.recalled_at(), SCORED)}
        ranked = surprising_first(self._distances(frozenset(pool), fence), limit)
        if not ranked:
            return self.stale(limit)._replace(selector=SURPRISAL_FALLBACK)
        return ObservationSelection(SURPRISAL, [pool[number] for number in ranked], served)

    def recalled_at(self) -> dict[int, str]:
        """Return when each document was last recalled. Recalls are iterated oldest first."""
        recalls = self._vault.telemetry.recalls()
        return {hit.document_id: recall.asked_at for recall in recalls for hit in recall.hits}

    def _served(self) -> list[Document]:
        scope = Scope(frozenset({COLLECTION}))
        return list(
            self._vault.documents.many(
                self._vault.documents.ids(scope, content_types=("observation",))
            ).values()
        )

    def _distances(self, ids: frozenset[int], fence: Fence) -> dict[int, list[float]]:
        """Return the cosine distances of each document with vectors to its nearest neighbours."""
        entries = {number: self._vault.embeddings.of_document(number) for number in ids}
        found = {}
        for number, own in entries.items():
            fence()
            if own:
                found[number] = self._nearest(number, own[0].vector, ids)
        return found

    def _nearest(self, number: int, vector: Vector, ids: frozenset[int]) -> list[float]:
        hits = self._vault.vectors.search(
            vector, (NEIGHBOURS + 1) * _FRAGMENTS, Scope(documents=ids - {number})
        )
        best: dict[int, float] = {}
        for hit in hits:
            best.setdefault(hit.key.document_id, 1.0 - hit.score)
        return list(best.values())[:NEIGHBOURS]
