from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple, Protocol


class Act(StrEnum):
    """Action that a user, an agent or a hook can take on a document, apart from writing it."""

    PIN = "pin"
    UNPIN = "unpin"
    SNOOZE = "snooze"
    UNSNOOZE = "unsnooze"
    ARCHIVE = "archive"
    RESTORE = "restore"
    FORGET = "forget"
    PURGE = "purge"


class ActEntry(NamedTuple):
    """
    Journal entry for one action on one document: the actor (a command, a tool or a hook), the time and the
    reason.

    ``before`` holds the previous end of a snooze, or the docid of a document that was forgotten, because the
    document itself no longer has one. ``id`` is 0 until the entry is stored.
    """

    document_id: int
    act: Act
    by: str
    at: str
    why: str = ""
    before: str = ""
    id: int = 0


class ActJournal(Protocol):
    """Append-only journal of actions on documents. Its writes are part of the vault's transactions."""

    def add(self, entries: Iterable[ActEntry]) -> list[int]:
        """Append *entries* in order and return their ids, which are > 0 and increasing."""

    def get(self, act_id: int) -> ActEntry | None:
        """Return the entry with this id, or ``None``."""

    def latest(self, limit: int, document_id: int | None = None) -> list[ActEntry]:
        """
        Return up to *limit* entries, newest first, of one document or of all documents.

        A limit below 1 returns an empty list.
        """

    def last(self, act: Act) -> Mapping[int, str]:
        """Return, for each document that ever received *act*, the time of the most recent one, by document id."""

    def forget(self, document_id: int) -> int:
        """
        Clear the reasons in the entries of a document, because they may quote its text.

        Returns:
            The number of reasons that were cleared.
        """
