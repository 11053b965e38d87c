from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple, Protocol


class Act(StrEnum):
    """What can be done to a document by somebody, beside writing it."""

    PIN = "pin"
    UNPIN = "unpin"
    SNOOZE = "snooze"
    UNSNOOZE = "unsnooze"
    ARCHIVE = "archive"
    RESTORE = "restore"
    FORGET = "forget"
    PURGE = "purge"


class Entry(NamedTuple):
    """
    One act on one document: by whom (a command, a tool or a hook), when and why.

    ``before`` is the earlier end of a snooze, or the docid of a document that was forgotten: the document itself has
    none any more. ``id`` is 0 until it is stored.
    """

    document_id: int
    act: Act
    by: str
    at: str
    why: str = ""
    before: str = ""
    id: int = 0


class ActJournal(Protocol):
    """Who did what to which document, when and why. Part of the vault's transactions; it only grows."""

    def add(self, entries: Iterable[Entry]) -> list[int]:
        """Write entries down, in their order; their ids, > 0 and growing."""
        ...

    def get(self, act_id: int) -> Entry | None:
        """One entry."""
        ...

    def latest(self, limit: int, document_id: int | None = None) -> list[Entry]:
        """Up to *limit* entries, of one document or of all, the last one first. A limit below 1 gives none."""
        ...

    def last(self, act: Act) -> Mapping[int, str]:
        """When this was done last to each document to which it ever was, by id."""
        ...

    def forget(self, document_id: int) -> int:
        """Take the reasons out of what was done to a document, for they may quote it; how many there were."""
        ...
