"""Groups of observations that repeat each other, and their merged document."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import combinations, takewhile
from typing import NamedTuple

from clawmem.app.services.capture.memories import Memories
from clawmem.app.services.indexing.publish import Publisher
from clawmem.app.services.maintenance.deciding import CarefulAsk, Decisions, Verdict
from clawmem.domain.maintenance import patterns
from clawmem.domain.maintenance.merge_gate import (
    NORMAL,
    STRICT,
    ObservationText,
    StatementIndex,
    decide_merge,
    replacement_objection,
)
from clawmem.ports.documents import DocumentStore
from clawmem.ports.journal import Journal
from clawmem.ports.knowledge import EntityStore
from clawmem.ports.records import Document, InactiveReason, Origin
from clawmem.ports.sessions import CaptureStore


class Observation(NamedTuple):
    """A document and its statement."""

    document: Document
    said: ObservationText

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
    The observations among *documents*, each read on first use.

    There may be tens of thousands of consolidated documents: to find similar ones, their titles are enough.
    """

    def __init__(self, store: DocumentStore, entities: EntityStore, documents: Sequence[Document]) -> None:
        self._store = store
        self._entities = entities
        self._documents = {document.id: document for document in documents if is_free(document)}
        self._read: dict[int, Observation] = {}

    def __getitem__(self, document_id: int) -> Observation:
        if document_id not in self._read:
            self._read[document_id] = self._observation(self._documents[document_id])
        return self._read[document_id]

    def near(self, one: Observation, without: Collection[int] = ()) -> list[Observation]:
        """Return other observations similar to *one*, latest first, leaving out the ids *without*."""
        numbers = (number for number in self._nearby.near(one.said.text) if number not in without)
        found = [self[number] for number in numbers if number != one.id]
        return sorted(found, key=lambda other: other.when, reverse=True)

    @cached_property
    def _nearby(self) -> StatementIndex:
        return StatementIndex((document.id, self._short(document)) for document in self._documents.values())

    def _short(self, document: Document) -> str:
        is_whole = patterns.CONSOLIDATED in document.tags and not document.title.endswith("…")
        return document.title if is_whole else self[document.id].said.text

    def _observation(self, document: Document) -> Observation:
        text = patterns.stated_text(document, self._store.body(document.id) or "")
        entities = frozenset(entity.id for entity in self._entities.mentions(document.id))
        return Observation(document, ObservationText(text, entities))


def is_free(document: Document) -> bool:
    """Whether *document* is an observation that the user manages neither by pinning nor by snoozing it."""
    return patterns.is_observation(document) and not (document.is_pinned or document.snoozed_until)


AT_ONCE = 20  # observations in one prompt
BY_MODEL = "a model says that they say the same"
BY_WORDS = "they say the same words"
APART = "they were taken apart"


class Group(NamedTuple):
    """
    Observations that state *text*, newest first, and the reason for grouping them.

    ``score`` is the lowest cosine between any two of them; ``None`` if a model grouped them.
    """

    text: str
    members: tuple[Observation, ...]
    why: str
    score: float | None = None


class Thresholds(NamedTuple):
    """Least cosine of two texts: *normal* if they name the same entities, *strict* if entities are not comparable."""

    normal: float = NORMAL
    strict: float = STRICT


class ObservationGrouper:
    """Finds groups of observations and records refusals."""

    def __init__(self, journal: Journal, thresholds: Thresholds, decisions: Decisions) -> None:
        undone = journal.replacements(undone=True)
        # These pairs were merged and then restored by the user: never merge them again.
        self._apart = frozenset(
            frozenset(pair) for replacement in undone for pair in combinations(replacement.replaced, 2)
        )
        self._thresholds = thresholds
        self._decisions = decisions

    def by_model(self, every: Sequence[Observation], ask: CarefulAsk) -> list[Group]:
        """Return the groups that a model finds among *every*, asked in batches of `AT_ONCE`."""
        groups: list[Group] = []
        taken: set[int] = set()
        for shown in _batches(every, AT_ONCE):
            for pattern in _patterns(shown, ask):
                members = tuple(shown[number - 1] for number in sorted(pattern.source_indices))
                if not self._refused(pattern.observation, members, taken):
                    taken |= {observation.id for observation in members}
                    groups.append(Group(pattern.observation, members, BY_MODEL))
        return groups

    def by_words(self, every: Sequence[Observation], among: Observations, taken: set[int]) -> list[Group]:
        """Group each of *every* with similar ones from *among*; any two members of a group pass the merge gate."""
        groups: list[Group] = []
        taken = set(taken)
        for observation in every:
            if observation.id in taken:
                continue
            members, scores = [observation], [1.0]
            for other in among.near(observation):
                found = [] if other.id in taken else self._scores(members, other)
                if len(found) == len(members):
                    members.append(other)
                    scores += found
            if len(members) > 1:
                taken |= {member.id for member in members}
                members.sort(key=lambda member: member.when, reverse=True)
                groups.append(Group(members[0].said.text, tuple(members), BY_WORDS, round(min(scores), 4)))
        return groups

    def _refused(self, text: str, members: Sequence[Observation], taken: set[int]) -> bool:
        ids = [observation.id for observation in members]
        reason = replacement_objection(text, [observation.said for observation in members])
        if taken.intersection(ids):
            reason = "it is part of another group"
        elif any(frozenset(pair) in self._apart for pair in combinations(ids, 2)):
            reason = APART
        if reason:
            self._decisions.add(Verdict.REFUSE, ids, reason, by="model")
        return bool(reason)

    def _scores(self, members: Sequence[Observation], other: Observation) -> list[float]:
        """Return the cosines of *other* with *members*, up to the first refused pair."""
        every = (self._score(member, other) for member in members)
        return list(takewhile(bool, every))

    def _score(self, one: Observation, other: Observation) -> float:
        """Return the cosine of the two; 0 if they may not be merged, which is recorded as a refusal."""
        ids = (one.id, other.id)
        merge = decide_merge(one.said, other.said, **self._thresholds._asdict())
        reason = APART if frozenset(ids) in self._apart else merge.reason
        if reason:
            found = {
                "score": round(merge.score, 4),
                "threshold": merge.threshold,
                "method": merge.method.value,
            }
            self._decisions.add(Verdict.REFUSE, ids, reason, by="words", **found)
        return 0.0 if reason else merge.score


def _patterns(shown: Sequence[Observation], ask: CarefulAsk) -> list[patterns.Pattern]:
    answer = ask(patterns.PATTERNS, patterns.prompt([observation.said.text for observation in shown]))
    return patterns.read_patterns(answer, len(shown)) or []


def _batches(every: Sequence[Observation], size: int) -> Iterator[Sequence[Observation]]:
    starts = range(0, len(every), size)
    return (batch for batch in (every[start : start + size] for start in starts) if len(batch) > 1)


class MergedObservations:
    """Writes the document of a group of observations. To be called inside `Transactions.writing`."""

    def __init__(self, documents: DocumentStore, captures: CaptureStore, memories: Memories) -> None:
        self._documents = documents
        self._captures = captures
        self._memories = memories

    def write(self, group: Group, path: str) -> int:
        """Write the document at *path* with the text and all occasions of *group*; return its id."""
        newest = group.members[0].document
        occasions = sorted(
            occasion for observation in group.members for occasion in self._occasions(observation)
        )
        created = self._memories.write(
            path,
            patterns.consolidated_title(group.text),
            patterns.consolidated_body(group.text, occasions),
            newest.content_type,
            max(observation.document.confidence for observation in group.members),
            max(newest.authored_at, occasions[-1].day),
            tags=_tags(group),
            domain=newest.domain,
            sources=[observation.document for observation in group.members],
            origin=Origin.MODEL if group.why == BY_MODEL else Origin.ASSISTANT,
        )
        self._captures.count_as(created, len(occasions))
        return created

    def _occasions(self, one: Observation) -> list[patterns.Occurrence]:
        body = self._documents.body(one.id) or ""
        sightings = self._captures.sightings(one.id)
        return patterns.occurrences_of(one.document, body, [seen.seen_at for seen in sightings[1:]])


def serve_again(
    documents: DocumentStore, publisher: Publisher, document_ids: Iterable[int]
) -> list[Document]:
    """Serve superseded documents again and return them ordered by id. To be called inside `Transactions.writing`."""
    found = documents.many(document_ids).values()
    back = sorted(
        (note for note in found if note.inactive is InactiveReason.SUPERSEDED), key=lambda one: one.id
    )
    for document in back:
        publisher.publish_again(document)
    return back


def _tags(group: Group) -> tuple[str, ...]:
    shared: Iterable[str] = set.intersection(
        *(set(observation.document.tags) for observation in group.members)
    )
    kept = sorted(tag for tag in shared if tag.startswith(("type:", "concept:")))
    return (patterns.CONSOLIDATED, *kept)
