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
    What one document says of something, and from which day to which it holds.

    The object is another entity, or a text of its own. Days are ``YYYY-MM-DD``, both of them included; empty
    is since ever, and up to now. ``confidence`` is in (0, 1]; ``said`` is the sentence that it comes from.
    ``ended_by`` is the document that says that it is over, ``None`` where none does.
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
        """Whether it holds up to now."""
        return not self.valid_to

    @property
    def object_id(self) -> str:
        """The id of the object; empty where it is a text of its own."""
        return self.object.id if isinstance(self.object, Entity) else ""

    @property
    def object_name(self) -> str:
        """The object as it is written."""
        return self.object.name if isinstance(self.object, Entity) else self.object


class Direction(StrEnum):
    """Whether something is what a triple speaks of, or what it names beside that."""

    OUTGOING = "outgoing"
    INCOMING = "incoming"
    BOTH = "both"


class TripleStore(Protocol):
    """
    What documents say of things, and when it held.

    Only what served documents say is answered: one that is deactivated takes it along, one that comes back
    brings it back. The same said by several documents is answered once, as the surest of them says it; it
    holds until the last of them is gone.
    """

    def add(self, triples: Iterable[Triple]) -> int:
        """
        Keep what is new; how many that was. Nothing that held before ends by it.

        What a document says already and still holds is not new. An entity that is known keeps its name and
        kind, and nothing is mentioned by this.

        Raises:
            InvalidInput: no such document, a day or a confidence that is none, an end before the beginning;
                nothing was stored.
        """
        ...

    def end(self, triple: Triple, day: str, by: int | None = None) -> int:
        """
        Let what *triple* says have ended on *day*, whichever documents say it; how many did.

        What had ended by that day, and what began after it, stays as it is; what some document says ended only
        later, ended then.

        Args:
            by: The document that says so; when what it says is forgotten, it has not ended.

        Raises:
            InvalidInput: *day* is none.
        """
        ...

    def reopen(self, document_id: int) -> list[Triple]:
        """
        Let hold again what had ended by what a document says; those that served documents say, in their order.

        What a document said once more since then stays ended before that.
        """
        ...

    def of_document(self, document_id: int) -> list[Triple]:
        """What one served document says, what ended included, in the order in which it was added."""
        ...

    def current(self, entity_id: str, limit: int, direction: Direction = Direction.BOTH) -> list[Triple]:
        """
        What holds of an entity: what it is the subject of, then where it is the object.

        In either, the surest first, then the latest to begin; of these the first *limit* in all. What is
        not asked for costs nothing, however much is known.
        """
        ...

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
        The same with what has ended, which comes after what holds, the latest to end first.

        Args:
            on: A day; only what held then.
            predicate: Only what is said by it.
        """
        ...

    def counts(self) -> Mapping[str, int]:
        """How many different things hold, by predicate; the predicates in their order."""
        ...

    def total(self) -> int:
        """How many different things were ever said, those that hold among them."""
        ...

    def forget(self, document_id: int) -> int:
        """
        Drop what a document says, and every entity that nothing speaks of any more; how many triples that were.

        What ended by it holds again.
        """
        ...


def check_triple(triple: Triple) -> None:
    """
    Refuse what no store can keep.

    Raises:
        InvalidInput: a part is empty, a confidence is not in (0, 1], a day is none, it ends before it begins.
    """
    if not (triple.subject.id and triple.predicate and (triple.object_id or triple.object_name)):
        raise InvalidInput("INVALID_INPUT", "A triple needs a subject, a predicate and an object.")
    if not 0 < triple.confidence <= 1:
        raise InvalidInput(
            "INVALID_INPUT", f"A confidence of {triple.confidence} is not above 0 and at most 1."
        )
    for day in filter(None, (triple.valid_from, triple.valid_to)):
        check_day(day)
    if triple.valid_to and triple.valid_to < triple.valid_from:
        raise InvalidInput(
            "INVALID_INPUT", f"What began on {triple.valid_from} cannot have ended on {triple.valid_to}."
        )


def check_day(day: str) -> None:
    """
    Refuse what is not a day of the calendar, written as ``YYYY-MM-DD``.

    Raises:
        InvalidInput: it is not.
    """
    if not (_DAY.fullmatch(day) and _is_in_calendar(day)):
        raise InvalidInput("INVALID_INPUT", f"{day!r} is no day. Write it as YYYY-MM-DD.")


def _is_in_calendar(day: str) -> bool:
    with suppress(ValueError):
        return bool(date.fromisoformat(day))
    return False
