"""Ports for what is derived from the texts of documents: entities, facts, relations between documents, and notes."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from clawmem.ports.errors import InvalidInput
from clawmem.ports.records import EVERYTHING, Origin, Scope

MOST_COMPANIONS = 30  # co-occurring entities that are followed
DOCUMENTS_EACH = 10  # documents taken from each of these entities


@dataclass(frozen=True, slots=True)
class Entity:
    """
    Person or thing that documents mention; ``id`` is ``<vault>:<kind>:<slug>``.

    ``kind`` is one of person, project, service, tool, concept, org, location. ``mention_count`` is never stored.
    """

    id: str
    name: str
    kind: str
    mention_count: int = 0


class EntityStore(Protocol):
    """
    Entities and the documents that mention them.

    Two entities co-occur once for each served document that mentions both. All counts and results consider served
    documents only. Words are compared without case and Latin diacritics.
    """

    def set_mentions(self, document_id: int, entities: Sequence[Entity]) -> None:
        """Replace the entities that a known document mentions. A known entity keeps its name and kind."""

    def merge(self, entity_id: str, into: Entity) -> bool:
        """
        Replace an entity by *into* in every mention and triple of all documents, and return whether it was known.

        Equal triples of one document are stored once; one that would relate *into* to itself is dropped.
        """

    def mentions(self, document_id: int) -> list[Entity]:
        """Return the entities that a served document mentions, by id."""

    def mentioning(self, entity_id: str, limit: int) -> list[int]:
        """Return served documents that mention the entity, highest ids first."""

    def known(self, ids: Iterable[str]) -> dict[str, Entity]:
        """Return the entities with these ids that exist, by id, whether or not a served document mentions them."""

    def search(self, text: str | None, limit: int) -> list[Entity]:
        """
        Return mentioned entities whose name has a word beginning with each word of *text*, or all with ``None``.

        The most mentioned are first, then by id. A text without words has no results.
        """

    def neighbours(
        self, document_ids: Iterable[int], limit: int, scope: Scope = EVERYTHING
    ) -> dict[int, int]:
        """
        Return other documents that mention entities co-occurring with the entities of these documents, best first.

        The score of a document is the number of served documents that mention its most frequent pair; ties by id. The
        search follows the `MOST_COMPANIONS` entities that co-occur most often with any single entity of the given
        documents (ties by id), and takes from each the `DOCUMENTS_EACH` documents in *scope* with the highest ids.
        """


@dataclass(frozen=True, slots=True)
class Triple:
    """
    Statement of one document about an entity, with the days (``YYYY-MM-DD``, inclusive) on which it is valid.

    The object is another entity or a literal text. An empty day leaves that side open. ``confidence`` is in (0, 1];
    ``said`` is the source sentence; ``ended_by`` is the document that states the end of validity.
    """

    subject: Entity
    predicate: str
    object: Entity | str
    document_id: int
    valid_from: str = ""
    valid_to: str = ""
    confidence: float = 1.0
    said: str = ""
    ended_by: int | None = None

    @property
    def object_id(self) -> str:
        """Return the id of the object; empty if it is a literal text."""
        return self.object.id if isinstance(self.object, Entity) else ""

    @property
    def object_name(self) -> str:
        """Return the object as written."""
        return self.object.name if isinstance(self.object, Entity) else self.object


class Direction(StrEnum):
    """Role of an entity in triples: subject (outgoing), object (incoming) or either."""

    OUTGOING = "outgoing"
    INCOMING = "incoming"
    BOTH = "both"


class TripleStore(Protocol):
    """
    Store of the statements of served documents, with their validity.

    A statement made by several documents is returned once, in the version with the highest confidence, and remains
    until the last of them is gone. An unknown document, an empty part, a wrong confidence or day, or an end before the
    beginning raise InvalidInput, and nothing is stored.
    """

    def add(self, triples: Iterable[Triple]) -> int:
        """Store the triples that are new, and return their number. No other triple ends."""

    def end(self, triple: Triple, day: str, by: int | None = None) -> int:
        """
        End the validity of a statement on *day*, in every document that makes it; return the number of ended triples.

        Triples that had ended by that day, or began after it, are unchanged. An end that an earlier call set for a
        document moves to an earlier *day*. Forgetting the statements of the document *by* makes the triple valid again.
        """

    def reopen(self, document_id: int) -> list[Triple]:
        """Reopen the triples that a document ended and did not state again; return those of served documents."""

    def of_document(self, document_id: int) -> list[Triple]:
        """Return the statements of one served document, ended ones included, in order of addition."""

    def recorded(
        self,
        entity_id: str,
        limit: int,
        direction: Direction = Direction.BOTH,
        *,
        ended: bool = True,
        on: str | None = None,
        predicate: str | None = None,
    ) -> list[Triple]:
        """
        Return up to *limit* triples of an entity: those with it as subject, then those with it as object.

        In both groups valid ones are first, by confidence and then latest beginning; ended ones follow, latest end
        first. Without *ended* only valid ones are returned, with *on* those valid on this day.
        """

    def counts(self, *, ended: bool = False) -> Mapping[str, int]:
        """Return the number of distinct valid (or *ended* too) statements by predicate, in order of the predicates."""

    def forget(self, document_id: int) -> int:
        """Delete the statements of a document and unreferenced entities, and reopen what it ended; return how many."""


def check_day(day: str) -> None:
    """Raise InvalidInput unless *day* is a calendar day, written as ``YYYY-MM-DD``."""
    with suppress(ValueError):
        if date.fromisoformat(day).isoformat() == day:
            return
    raise InvalidInput("INVALID_INPUT", f"{day!r} is not a valid day. Write it as YYYY-MM-DD.")


class RelationKind(StrEnum):
    """Kind of a relation, read as "source … target"."""

    SEMANTIC = "semantic"  # is about the same as
    CAUSAL = "causal"  # caused
    TEMPORAL = "temporal"  # came before
    ENTITY = "entity"  # mentions the same entity as
    SUPPORTING = "supporting"  # is evidence for
    CONTRADICTS = "contradicts"  # is evidence against
    USAGE = "usage"  # was used together with
    LINKS_TO = "links_to"  # contains a link to


EVERY_KIND = frozenset(RelationKind)


class Relation(NamedTuple):
    """
    Directed edge between two documents, by their ids. At most one edge per kind leads from one document to another.

    ``weight`` is in (0, 1]. ``origin`` names the writer, so that a writer can replace its own relations alone.
    ``metadata`` is any JSON object: a causal relation stores its ``reasoning`` there. ``trust`` is the less trusted of
    the present origins of the two documents: stores compute it and never persist it.
    """

    source: int
    target: int
    kind: RelationKind
    weight: float = 1.0
    origin: str = ""
    created_at: str = ""
    metadata: Mapping[str, Any] = MappingProxyType({})
    trust: Origin = Origin.USER


class RelationStore(Protocol):
    """
    Store of the graph between documents; a relation is returned while both of them are served.

    An unknown document, equal ends, or a weight outside (0, 1] raise InvalidInput, and nothing is stored.
    """

    def put(self, relations: Iterable[Relation]) -> int:
        """
        Add relations, replacing those with the same source, target and kind; return how many were added or changed.

        A relation that differs from the existing one in ``created_at`` only is not written.
        """

    def renew(
        self, kind: RelationKind, origin: str, sources: Iterable[int], relations: Iterable[Relation]
    ) -> int:
        """
        Replace all relations of this kind and origin that start at *sources*; return how many were changed or deleted.

        A relation written by another origin is retained and prevents a new one with the same source, target and kind.
        """

    def outbound(
        self,
        document_ids: Iterable[int],
        kinds: Collection[RelationKind] = EVERY_KIND,
        *,
        limit: int,
        scope: Scope = EVERYTHING,
    ) -> list[Relation]:
        """
        Return the *limit* strongest relations that start at each of these documents, for each kind.

        The targets are in *scope*, which is applied before the limit. Ordered by source, kind, falling weight, target.
        """

    def inbound(
        self,
        document_ids: Iterable[int],
        kinds: Collection[RelationKind] = EVERY_KIND,
        *,
        limit: int,
        scope: Scope = EVERYTHING,
    ) -> list[Relation]:
        """Return the strongest relations that end at these documents; otherwise like `outbound`."""

    def counts(self) -> dict[RelationKind, int]:
        """Return the number of visible relations by kind; kinds without any are omitted."""


RULES = "rules"  # origin of notes that were not written by a model
ATTEMPTS = 3  # failures of a model after which a document is not retried until it changes


@dataclass(frozen=True, slots=True)
class Note:
    """
    Generated description of a document, by which it is found; ``origin`` is `RULES` or a model's fingerprint.

    ``cause`` is the document that triggered this version, ``None`` if that was a change of its own text; ``reason``
    explains it. ``version`` counts from 1; it is 0 until the note is stored.
    """

    document_id: int
    keywords: tuple[str, ...]
    tags: tuple[str, ...] = ()
    context: str = ""
    origin: str = RULES
    written_at: str = ""
    cause: int | None = None
    version: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class NoteCounts:
    """Numbers of served documents: with a note, with one by a model, waiting for the rules, given up by the model."""

    notes: int = 0
    by_model: int = 0
    waiting: int = 0
    given_up: int = 0


class NoteStore(Protocol):
    """
    Notes about documents, in all their versions, and the progress of each document.

    A document waits until its current source is settled: a document that was never processed waits, and so does one
    whose file has changed since. Only served documents are returned or counted.
    """

    def get(self, document_id: int) -> Note | None:
        """Return the latest note about a served document, or ``None``."""

    def history(self, document_id: int) -> list[Note]:
        """Return all versions of the note about a served document, oldest first."""

    def put(self, note: Note) -> int:
        """Store a note about a known document as the latest version, unless it is equal, and return the version."""

    def waiting(self, *, by_model: bool) -> list[int]:
        """Return the waiting documents by id; *by_model* also those settled by rules alone."""

    def settle(self, document_id: int, source_hash: str, *, by_model: bool) -> None:
        """Mark a document as settled for this source; a model resets the failures, rules never replace a model."""

    def fail(self, document_id: int, source_hash: str) -> int:
        """Record that a model failed on a document that rules have settled; return how often for this source."""

    def counts(self) -> NoteCounts:
        """Return the progress counts."""
