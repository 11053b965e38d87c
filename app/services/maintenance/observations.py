"""Observations: their selection for a lane, their trends, and the document that stands for several of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from clawmem.app.services.capture.memories import Memories
from clawmem.domain.capture.notes import COLLECTION, TITLE_CHARS, title_of
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
from clawmem.ports.records import Document, Origin, Scope
from clawmem.ports.sessions import CaptureStore
from clawmem.ports.telemetry import Telemetry

SCORED = 300  # most observations whose nearest neighbours are searched
_FRAGMENTS = 4  # fragments of one document that may precede the next document in the hits
BY_MODEL = "a model says that they say the same"


class ObservationSelection(NamedTuple):
    """Selected *documents*, the name of the selector, and *among*: all served observations."""

    selector: str
    documents: Sequence[Document]
    among: Sequence[Document]


@dataclass(frozen=True, slots=True)
class ObservationSelector:
    """Selects among the served observations of the collection that machines write."""

    documents: DocumentStore
    telemetry: Telemetry
    embeddings: EmbeddingStore
    vectors: VectorSearch

    def newest(self, limit: int) -> ObservationSelection:
        """Select the most recently written observations."""
        served = self.served()
        return ObservationSelection(NEWEST_FIRST, newest_first(served, limit), served)

    def stale(self, limit: int) -> ObservationSelection:
        """Select the observations that were recalled least recently."""
        served = self.served()
        return ObservationSelection(STALE_FIRST, stale_first(served, self.recalled_at(), limit), served)

    def surprising(self, limit: int, check: Callable[[], None]) -> ObservationSelection:
        """Select the observations with the most distant neighbours; the stale ones if too few have vectors."""
        served = self.served()
        pool = {document.id: document for document in stale_first(served, self.recalled_at(), SCORED)}
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
            return ObservationSelection(SURPRISAL, [pool[number] for number in ranked], served)
        return self.stale(limit)._replace(selector=SURPRISAL_FALLBACK)

    def recalled_at(self) -> dict[int, str]:
        """Return when each document was last recalled. Recalls are iterated oldest first."""
        recalls = self.telemetry.recalls()
        return {hit.document_id: recall.asked_at for recall in recalls for hit in recall.hits}

    def served(self) -> list[Document]:
        """Return all served observations."""
        scope = Scope(frozenset({COLLECTION}))
        return list(self.documents.many(self.documents.ids(scope, content_types=("observation",))).values())

    def trends(self, now_ms: int) -> dict[str, int]:
        """Return the number of served documents that replace observations, by their trend."""
        counts: Counter[str] = Counter()
        for document in self.served():
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


def is_free(document: Document) -> bool:
    """Whether *document* is an observation that the user manages neither by pinning nor by snoozing it."""
    return patterns.is_observation(document) and not (document.is_pinned or document.snoozed_until)


class Observations:
    """
    The observations among *documents*, each read on first use.

    There may be tens of thousands of consolidated documents: to find similar ones, their titles are enough.
    """

    def __init__(self, store: DocumentStore, entities: EntityStore, documents: Iterable[Document]) -> None:
        self._store = store
        self._entities = entities
        self._documents = {document.id: document for document in documents if is_free(document)}
        self._read: dict[int, Observation] = {}

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


class Group(NamedTuple):
    """
    Observations that state *text*, newest first, and the reason for grouping them.

    ``score`` is the lowest cosine between any two of them; ``None`` if a model grouped them.
    """

    text: str
    members: tuple[Observation, ...]
    why: str
    score: float | None = None

    @property
    def ids(self) -> list[int]:
        """The ids of the members."""
        return [observation.id for observation in self.members]


@dataclass(frozen=True, slots=True)
class MergedObservations:
    """Writes the document of a group of observations. To be called inside `Transactions.writing`."""

    documents: DocumentStore
    captures: CaptureStore
    memories: Memories

    def write(self, group: Group, path: str) -> int:
        """Write the document at *path* with the text and all occasions of *group*; return its id."""
        newest = group.members[0].document
        occasions = sorted(
            occasion
            for document, _ in group.members
            for occasion in patterns.occurrences_of(
                document,
                self.documents.body(document.id) or "",
                [sighting.seen_at for sighting in self.captures.sightings(document.id)[1:]],
            )
        )
        shared = set.intersection(*(set(document.tags) for document, _ in group.members))
        created = self.memories.write(
            path,
            title_of(group.text)[:TITLE_CHARS],
            patterns.consolidated_body(group.text, occasions),
            newest.content_type,
            max(document.confidence for document, _ in group.members),
            max(newest.authored_at, occasions[-1].day),
            tags=(CONSOLIDATED, *sorted(tag for tag in shared if tag.startswith(("type:", "concept:")))),
            domain=newest.domain,
            sources=[document for document, _ in group.members],
            origin=Origin.MODEL if group.why == BY_MODEL else Origin.ASSISTANT,
        )
        self.captures.count_as(created, len(occasions))
        return created
