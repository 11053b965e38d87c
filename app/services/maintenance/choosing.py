"""Selection of the observations that a lane processes."""

from __future__ import annotations

from collections.abc import Sequence
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
from clawmem.ports.records import Document, Scope, Vector
from clawmem.ports.stores import DocumentsWithAnswerLog

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
