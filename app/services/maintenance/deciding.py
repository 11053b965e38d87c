"""Decisions of maintenance about documents and their reasons, reported in the transaction of each effect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from types import MappingProxyType
from typing import Any, NamedTuple

from clawmem.app.services.knowledge.asking import Ask, DailyLimitReached
from clawmem.domain.capture.notes import COLLECTION
from clawmem.domain.knowledge.enrichment import ModelTask
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
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import ModelError, ModelUnavailable
from clawmem.ports.indexes import EmbeddingStore, VectorSearch
from clawmem.ports.records import Document, Scope, Vector
from clawmem.ports.telemetry import Telemetry

MOST_REFUSALS = 50  # refusals stored per run; the others are only counted


class Verdict(StrEnum):
    """Outcome of a decision for its documents."""

    ENRICH = "enrich"  # the documents were enriched
    FAIL = "fail"  # the model gave no usable answer
    MERGE = "merge"
    CONCLUDE = "conclude"  # a conclusion was drawn from the documents
    REFUSE = "refuse"
    LINK = "link"  # the documents contradict each other, and both are served
    SUPERSEDE = "supersede"  # the documents contradict each other, and the later one replaces the other


class Decision(NamedTuple):
    """
    One decision. It names documents by id alone, so that it holds no text of a document that is forgotten later.

    ``details`` are the figures behind it, such as a cosine and its threshold, or a confidence.
    """

    verdict: Verdict
    documents: tuple[int, ...]
    why: str
    details: Mapping[str, Any] = MappingProxyType({})

    def as_json(self) -> dict[str, Any]:
        """Return the decision as the journal stores it."""
        return {
            "verdict": self.verdict.value,
            "documents": list(self.documents),
            "why": self.why,
            **self.details,
        }


class Decisions:
    """Decisions of one run without duplicates: one per verdict, set of documents and draft."""

    def __init__(self) -> None:
        self._every: dict[tuple[Verdict, frozenset[int], int], Decision] = {}

    def add(self, verdict: Verdict, documents: Iterable[int], why: str, **details: Any) -> None:
        """Record a decision unless the same one is recorded already."""
        decision = Decision(verdict, tuple(documents), why, details)
        key = verdict, frozenset(decision.documents), details.get("draft", 0)
        self._every.setdefault(key, decision)

    def __iter__(self) -> Iterator[Decision]:
        return iter(self._every.values())

    def refused(self) -> Counter[str]:
        """Return the number of refusals by reason."""
        return Counter(decision.why for decision in self if decision.verdict is Verdict.REFUSE)

    def count(self, *verdicts: Verdict) -> int:
        """Return the number of decisions whose verdict is one of *verdicts*."""
        return sum(decision.verdict in verdicts for decision in self)

    def in_journal(self) -> dict[str, Any]:
        """Return all decisions except refusals, the first `MOST_REFUSALS` refusals, and the count of all."""
        others = [decision for decision in self if decision.verdict is not Verdict.REFUSE]
        refusals = (decision for decision in self if decision.verdict is Verdict.REFUSE)
        kept = [*others, *islice(refusals, MOST_REFUSALS)]
        return {"decided": len(self._every), "decisions": [decision.as_json() for decision in kept]}


Tell = Callable[[Decisions], None]


def ignore_decisions(decisions: Decisions) -> None:
    """Ignore *decisions*, for callers without a journal."""


Fence = Callable[[], None]


class CarefulAsk:
    """
    Asks a model on behalf of one run; each call is recorded and counts towards the daily limit.

    Args:
        fence: Called before each question. Its exceptions propagate to the caller.
    """

    def __init__(self, ask: Ask, fence: Fence) -> None:
        self._ask = ask
        self._fence = fence
        self.null_calls = 0
        self.stopped = ""  # reason why no more questions are asked

    def __call__(self, asked: ModelTask, prompt: str) -> Any | None:
        """Return the answer, or ``None`` if the model gave no usable one."""
        if self.stopped:
            return None
        self._fence()
        value = self._answer(asked, prompt)
        self.null_calls += value is None
        return value

    def _answer(self, asked: ModelTask, prompt: str) -> Any | None:
        try:
            return self._ask(asked, prompt)
        except (DailyLimitReached, ModelUnavailable) as reason:
            self.stopped = str(reason)
        except ModelError:
            pass
        return None


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


@dataclass(frozen=True, slots=True)
class ObservationSelector:
    """Selects among the served observations of the collection that machines write."""

    documents: DocumentStore
    telemetry: Telemetry
    embeddings: EmbeddingStore
    vectors: VectorSearch

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
        pool = {document.id: document for document in stale_first(served, self.recalled_at(), SCORED)}
        ranked = surprising_first(self._distances(frozenset(pool), fence), limit)
        if not ranked:
            return self.stale(limit)._replace(selector=SURPRISAL_FALLBACK)
        return ObservationSelection(SURPRISAL, [pool[number] for number in ranked], served)

    def recalled_at(self) -> dict[int, str]:
        """Return when each document was last recalled. Recalls are iterated oldest first."""
        recalls = self.telemetry.recalls()
        return {hit.document_id: recall.asked_at for recall in recalls for hit in recall.hits}

    def _served(self) -> list[Document]:
        scope = Scope(frozenset({COLLECTION}))
        return list(self.documents.many(self.documents.ids(scope, content_types=("observation",))).values())

    def _distances(self, ids: frozenset[int], fence: Fence) -> dict[int, list[float]]:
        """Return the cosine distances of each document with vectors to its nearest neighbours."""
        entries = {number: self.embeddings.of_document(number) for number in ids}
        found = {}
        for number, own in entries.items():
            fence()
            if own:
                found[number] = self._nearest(number, own[0].vector, ids)
        return found

    def _nearest(self, number: int, vector: Vector, ids: frozenset[int]) -> list[float]:
        hits = self.vectors.search(vector, (NEIGHBOURS + 1) * _FRAGMENTS, Scope(documents=ids - {number}))
        best: dict[int, float] = {}
        for hit in hits:
            best.setdefault(hit.key.document_id, 1.0 - hit.score)
        return list(best.values())[:NEIGHBOURS]
