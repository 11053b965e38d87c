from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Protocol

from clawmem.ports.entities import Entity
from clawmem.ports.errors import InvalidInput

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


@dataclass(frozen=True, slots=True)
class Triple:
    """
    Statement of one document about an entity, with the days on which it is valid.

    The object is another entity or a literal text. Days are ``YYYY-MM-DD`` and inclusive; an empty
    ``valid_from`` means always before, an empty ``valid_to`` means still valid. ``confidence`` is in (0, 1];
    ``said`` is the source sentence. ``ended_by`` is the document that states the end of validity, ``None`` if
    there is none.
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
    def is_current(self) -> bool:
        """Whether the statement is still valid."""
        return not self.valid_to

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
    Store of the statements of documents, with their validity.

    Only the statements of served documents are returned: deactivating a document hides its statements,
    reactivating it restores them. A statement made by several documents is returned once, in the version with
    the highest confidence, and remains until the last of them is gone.
    """

    def add(self, triples: Iterable[Triple]) -> int:
        """
        Store the triples that are new. This does not end the validity of any other triple.

        A triple that its document already states and that is still valid is not new. A known entity keeps its
        name and kind, and no mentions are added.

        Returns:
            The number of new triples.

        Raises:
            InvalidInput: unknown document, invalid day or confidence, or an end before the beginning; nothing
                was stored.
        """

    def end(self, triple: Triple, day: str, by: int | None = None) -> int:
        """
        End the validity of a statement on *day*, in every document that makes it.

        Triples that had ended by that day, or began after it, are unchanged. If an earlier call ended a
        triple on a later day on behalf of a document, its end moves to *day*; an end that the triple was
        added with is unchanged.

        Args:
            by: The document that states the end; the triple is valid again when that document's statements
                are forgotten.

        Returns:
            The number of triples that ended.

        Raises:
            InvalidInput: *day* is not a valid day.
        """

    def reopen(self, document_id: int) -> list[Triple]:
        """
        Make the triples that a document ended valid again, and return those of served documents, in order.

        A triple stays ended if its document has stated it again since.
        """

    def of_document(self, document_id: int) -> list[Triple]:
        """Return the statements of one served document, ended ones included, in order of addition."""

    def current(self, entity_id: str, limit: int, direction: Direction = Direction.BOTH) -> list[Triple]:
        """
        Return the valid triples of an entity: those with it as subject, then those with it as object.

        In both groups the highest confidence is first, then the latest beginning; *limit* applies to both
        groups together. The cost does not depend on the number of stored triples that are not requested.
        """

    def recorded(
        self,
        entity_id: str,
        limit: int,
        direction: Direction = Direction.BOTH,
        *,
        on: str | None = None,
        predicate: str | None = None,
    ) -> list[Triple]:
        """
        Return the triples of an entity like `current`, followed by the ended ones, latest end first.

        Args:
            on: Restrict the result to triples valid on this day.
            predicate: Restrict the result to triples with this predicate.
        """

    def counts(self) -> Mapping[str, int]:
        """Return the number of distinct valid statements by predicate, in the order of the predicates."""

    def total(self) -> int:
        """Return the number of distinct statements, ended ones included."""

    def forget(self, document_id: int) -> int:
        """
        Delete the statements of a document, and every entity that is no longer referenced.

        Statements that this document ended become valid again.

        Returns:
            The number of triples deleted.
        """


def check_triple(triple: Triple) -> None:
    """
    Raise an error if a store must not accept *triple*.

    Raises:
        InvalidInput: a part is empty, the confidence is not in (0, 1], a day is invalid, or the end precedes
            the beginning.
    """
    if not (triple.subject.id and triple.predicate and (triple.object_id or triple.object_name)):
        raise InvalidInput("INVALID_INPUT", "A triple needs a subject, a predicate and an object.")
    if not 0 < triple.confidence <= 1:
        raise InvalidInput(
            "INVALID_INPUT", f"Invalid confidence {triple.confidence}; choose a value above 0 and at most 1."
        )
    for day in filter(None, (triple.valid_from, triple.valid_to)):
        check_day(day)
    if triple.valid_to and triple.valid_to < triple.valid_from:
        raise InvalidInput(
            "INVALID_INPUT", f"A triple valid from {triple.valid_from} cannot end on {triple.valid_to}."
        )


def check_day(day: str) -> None:
    """
    Raise an error unless *day* is a calendar day, written as ``YYYY-MM-DD``.

    Raises:
        InvalidInput: *day* is not such a day.
    """
    if not (_DAY.fullmatch(day) and _is_in_calendar(day)):
        raise InvalidInput("INVALID_INPUT", f"{day!r} is not a valid day. Write it as YYYY-MM-DD.")


def _is_in_calendar(day: str) -> bool:
    with suppress(ValueError):
        return bool(date.fromisoformat(day))
    return False
