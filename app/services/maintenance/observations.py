"""Observations: their selection for a lane, their trends, and the texts that they state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from clawmem.domain.capture.notes import COLLECTION
from clawmem.domain.documents.times import parse_iso
from clawmem.domain.maintenance import patterns
from clawmem.domain.maintenance.merge_gate import ObservationText, StatementIndex
from clawmem.domain.maintenance.patterns import CONSOLIDATED, trend
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
from clawmem.ports.indexes import EmbeddingStore, VectorSearch
from clawmem.ports.knowledge import EntityStore
from clawmem.ports.records import Document, Scope
from clawmem.ports.telemetry import Telemetry

SCORED = 300  # most observations whose nearest neighbours are searched
_FRAGMENTS = 4  # fragments of one document that may precede the next document in the hits


def served_observations(documents: DocumentStore) -> list[Document]:
    """Return all served observations of the collection that machines write."""
    scope = Scope(frozenset({COLLECTION}))
    return list(documents.many(documents.ids(scope, content_types=("observation",))).values())


@dataclass(frozen=True, slots=True)
class ObservationSelector:
    """Selects among the served observations; each selection names its selector."""

    documents: DocumentStore
    telemetry: Telemetry
    embeddings: EmbeddingStore
    vectors: VectorSearch

    def newest(self, limit: int) -> tuple[str, Sequence[Document]]:
        """Select the most recently written observations."""
        return NEWEST_FIRST, newest_first(served_observations(self.documents), limit)

    def stale(self, limit: int) -> tuple[str, Sequence[Document]]:
        """Select the observations that were recalled least recently."""
        return STALE_FIRST, stale_first(served_observations(self.documents), self.recalled_at(), limit)

    def surprising(self, limit: int, check: Callable[[], None]) -> tuple[str, Sequence[Document]]:
        """Select the observations with the most distant neighbours; the stale ones if too few have vectors."""
        _, scored = self.stale(SCORED)
        pool = {document.id: document for document in scored}
        distances: dict[int, list[float]] = {}
        for number in pool:
            check()
            for fragment in self.embeddings.of_document(number)[:1]:
                others = Scope(documents=frozenset(pool.keys() - {number}))
                nearest: dict[int, float] = {}
                for hit in self.vectors.search(fragment.vector, (NEIGHBOURS + 1) * _FRAGMENTS, others):
                    nearest.setdefault(hit.key.document_id, 1.0 - hit.score)
                distances[number] = list(nearest.values())[:NEIGHBOURS]
        if ranked := surprising_first(distances, limit):
            return SURPRISAL, [pool[number] for number in ranked]
        return SURPRISAL_FALLBACK, self.stale(limit)[1]

    def recalled_at(self) -> dict[int, str]:
        """Return when each document was last recalled. Recalls are iterated oldest first."""
        recalls = self.telemetry.recalls()
        return {hit.document_id: recall.asked_at for recall in recalls for hit in recall.hits}

    def trends(self, now_ms: int) -> dict[str, int]:
        """Return the number of served documents that replace observations, by their trend."""
        counts: Counter[str] = Counter()
        for document in served_observations(self.documents):
            if CONSOLIDATED in document.tags:
                occasions = patterns.occurrences_of(document, self.documents.body(document.id) or "")
                days = sorted(occasion.day for occasion in occasions) or [document.authored_at[:10]]
                first, last = (
                    now_ms if (ms := parse_iso(day)) is None else ms for day in (days[0], days[-1])
                )
                counts[trend(first, last, len(days), now_ms).value] += 1
        return dict(counts)


class Observation(NamedTuple):
    """A document and its statement."""

    document: Document
    statement: ObservationText

    @property
    def id(self) -> int:
        """The document's id."""
        return self.document.id

    @property
    def when(self) -> tuple[str, int]:
        """The key that orders observations by time."""
        return self.document.authored_at, self.document.id


class Observations:
    """
    The served observations that the user manages neither by pinning nor by snoozing them, each read on first use.

    There may be tens of thousands of consolidated documents: to find similar ones, their titles are enough.
    """

    def __init__(self, documents: DocumentStore, entities: EntityStore) -> None:
        self._store = documents
        self._entities = entities
        self._documents = {
            document.id: document
            for document in served_observations(documents)
            if patterns.is_observation(document) and not (document.is_pinned or document.snoozed_until)
        }
        self._read: dict[int, Observation] = {}

    def __contains__(self, document_id: int) -> bool:
        return document_id in self._documents

    def __getitem__(self, document_id: int) -> Observation:
        if document_id not in self._read:
            document = self._documents[document_id]
            text = patterns.stated_text(document, self._store.body(document_id) or "")
            entities = frozenset(entity.id for entity in self._entities.mentions(document_id))
            self._read[document_id] = Observation(document, ObservationText(text, entities))
        return self._read[document_id]

    def near(self, observation: Observation, without: Collection[int] = ()) -> list[Observation]:
        """Return other observations similar to *observation*, latest first, leaving out the ids *without*."""
        numbers = self._nearby.near(observation.statement.text)
        others = [self[number] for number in numbers if number != observation.id and number not in without]
        return sorted(others, key=lambda other: other.when, reverse=True)

    @cached_property
    def _nearby(self) -> StatementIndex:
        return StatementIndex(
            (
                document.id,
                document.title
                if CONSOLIDATED in document.tags and not document.title.endswith("…")
                else self[document.id].statement.text,
            )
            for document in self._documents.values()
        )
