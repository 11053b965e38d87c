"""Which observations a lane looks at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from clawmem.app.services.maintenance.careful_asking import Fence
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
from clawmem.ports.vault import Vault

SCORED = 300  # observations at most whose neighbours are looked for
_FRAGMENTS = 4  # of one document, that may stand before the next document


class Chosen(NamedTuple):
    """How the *documents* were selected, by name, and all that are served beside them."""

    selector: str
    documents: Sequence[Document]
    among: Sequence[Document]

    @property
    def told(self) -> dict[str, Any]:
        """How, for the journal; of those with the least like them also how many they were."""
        counted = {"candidateCount": len(self.documents)} if self.selector == SURPRISAL else {}
        return {"selector": self.selector, **counted}


class Choosing:
    """Selects among the served observations of the machines' collection."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault

    def newest(self, limit: int) -> Chosen:
        """What was written last."""
        served = self._served()
        return Chosen(NEWEST_FIRST, newest_first(served, limit), served)

    def stale(self, limit: int) -> Chosen:
        """What nobody was given for longest."""
        served = self._served()
        return Chosen(STALE_FIRST, stale_first(served, self.recalled_at(), limit), served)

    def surprising(self, limit: int, fence: Fence) -> Chosen:
        """What has the least like it; where too few have vectors to tell, what is stale."""
        served = self._served()
        pool = {one.id: one for one in stale_first(served, self.recalled_at(), SCORED)}
        ranked = surprising_first(self._distances(frozenset(pool), fence), limit)
        if not ranked:
            return self.stale(limit)._replace(selector=SURPRISAL_FALLBACK)
        return Chosen(SURPRISAL, [pool[number] for number in ranked], served)

    def recalled_at(self) -> dict[int, str]:
        """When each document was last given in answer: recalls come oldest first."""
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
        """Of each document with vectors the cosine distances to its nearest neighbours."""
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
