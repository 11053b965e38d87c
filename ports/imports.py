from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple


class ForeignFact(NamedTuple):
    """Statement about an entity; days are ``YYYY-MM-DD``, empty if unknown. ``kind`` is the kind of the subject."""

    subject: str
    predicate: str
    object: str
    valid_from: str = ""
    valid_to: str = ""
    confidence: float = 1.0
    kind: str = ""


class ForeignRelation(NamedTuple):
    """Relation to another memory of the same store, by its id; ``kind`` is a word of the other tool."""

    target: str
    kind: str
    weight: float = 1.0


class ForeignMemory(NamedTuple):
    """
    A memory of another tool.

    ``id`` is permanent in its store, so that a second import finds the same memory. ``authored_at`` is the original time,
    empty if unknown. ``project`` names the project or the user that it belongs to.
    """

    id: str
    text: str
    title: str = ""
    content_type: str = "note"
    authored_at: str = ""
    tags: tuple[str, ...] = ()
    confidence: float = 0.5
    pinned: bool = False
    snoozed_until: str = ""
    project: str = ""
    facts: tuple[ForeignFact, ...] = ()
    relations: tuple[ForeignRelation, ...] = ()


class Unmatched(NamedTuple):
    """An item without a counterpart in a vault: its kind, for a report that counts them."""

    kind: str


class ForeignStore(NamedTuple):
    """
    Reader of the stores of one tool, which are never changed.

    ``usual`` are usual places of a store below the home folder. ``read`` yields the memories at a place, and raises
    StoreUnreadable if there is no store of the tool.
    """

    name: str
    usual: tuple[str, ...]
    read: Callable[[str], Iterator[ForeignMemory | Unmatched]]
