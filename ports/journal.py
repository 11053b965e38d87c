"""Ports for the logs of maintenance and of actions, and for what was forgotten."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple, Protocol


class RunStatus(StrEnum):
    """Outcome of one attempt of a maintenance lane."""

    STARTED = "started"  # running, or interrupted if it never finishes
    COMPLETED = "completed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Run:
    """
    One attempt of a maintenance lane to execute one phase of its work; ``id`` is 0 until it is stored.

    ``phase`` is ``gate`` if the lane stopped before its first phase. The counts are numbers of documents; ``metrics``
    is any JSON object. ``finished_at`` is empty until the run ends, and if its process was killed.
    """

    lane: str
    phase: str
    status: RunStatus
    started_at: str
    reason: str = ""
    selected: int = 0
    processed: int = 0
    created: int = 0
    rejected: int = 0
    null_calls: int = 0
    metrics: Mapping[str, Any] = field(default_factory=dict)
    finished_at: str = ""
    id: int = 0


@dataclass(frozen=True, slots=True)
class Replacement:
    """One document that is served instead of others, until ``undone_at``; ``id`` is 0 until it is stored."""

    document_id: int
    replaced: tuple[int, ...]
    why: str
    at: str
    undone_at: str = ""
    id: int = 0


class Journal(Protocol):
    """Log of maintenance runs and replacements, in the vault's transactions; document ids are not checked."""

    def begin(self, run: Run) -> int:
        """Store *run* and return its id."""

    def update(self, run: Run) -> None:
        """Update the stored run with this id, in the transaction of its effects; an unknown id changes nothing."""

    def run(self, run_id: int) -> Run | None:
        """Return the run with this id as last updated, or ``None``."""

    def runs(self, limit: int, lane: str = "", phase: str = "") -> list[Run]:
        """Return up to *limit* runs, newest first, optionally of one lane and one phase."""

    def trim(self, before: str, *, at_most: int | None = None) -> int:
        """Delete the runs that began before *before* (exclusive), the oldest *at_most*, and return their number."""

    def replace(self, replacement: Replacement) -> int:
        """Record that one document replaces others and return the record's id."""

    def replacements(self, document_id: int | None = None, *, undone: bool = False) -> list[Replacement]:
        """Return the replacements (of one document) that are in effect, or with *undone* those undone, by id."""

    def undo(self, replacement_id: int, at: str) -> bool:
        """Mark a replacement as undone at the time *at* and return whether it was in effect before."""


class Act(StrEnum):
    """Action that a user, an agent or a hook can take on a document, apart from writing it."""

    PIN = "pin"
    UNPIN = "unpin"
    SNOOZE = "snooze"
    UNSNOOZE = "unsnooze"
    ARCHIVE = "archive"
    RESTORE = "restore"
    PRIVATE = "private"
    PUBLIC = "public"
    SUPERSEDE = "supersede"
    REINSTATE = "reinstate"
    FORGET = "forget"
    PURGE = "purge"


class ActEntry(NamedTuple):
    """
    One action on one document; ``by`` is a command, a tool or a hook. ``id`` is 0 until the entry is stored.

    ``before`` holds the previous end of a snooze, the path of the previous successor, or the docid of a document that
    was forgotten.
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
        """Return up to *limit* entries, newest first, of one document or of all."""

    def last(self, act: Act) -> Mapping[int, str]:
        """Return, for each document that ever received *act*, the time of the most recent one, by document id."""


class ForgottenPlace(NamedTuple):
    """Collection and path of a forgotten document, and the time at which it was forgotten."""

    collection: str
    path: str
    at: str


class ForgottenText(NamedTuple):
    """Salted digest of a forgotten text, without which nobody can tell the text."""

    salt: str
    digest: str


class ForgetLog(Protocol):
    """Log of forgotten places and texts outside the vault, which it outlives; may raise VaultReadOnly or VaultFull."""

    location: str  # for messages

    def read(self) -> tuple[list[ForgottenPlace], list[ForgottenText]]:
        """Return the readable places, the first forgotten one first, and digests of texts; none without a log."""

    def write(self, places: Iterable[ForgottenPlace], texts: Iterable[ForgottenText]) -> None:
        """Replace the log in one step, durable when this returns. Only one process may write at a time."""


class ForgottenTexts(Protocol):
    """
    Salted digests of bodies forgotten on request. Append-only; part of the vault's transactions.

    Bodies that differ in white space alone are the same.
    """

    def add(self, bodies: Iterable[str]) -> None:
        """Store the fingerprints of *bodies*; a second call with the same body changes nothing."""

    def holds(self, body: str) -> bool:
        """Whether *body* was forgotten."""

    def digests(self) -> list[ForgottenText]:
        """Return every digest."""

    def restore(self, digests: Iterable[ForgottenText]) -> None:
        """Add digests of another vault, or of this one before it was lost."""
