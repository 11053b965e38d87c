"""Ports for notes: generated metadata by which a document is found, and the worklist of documents without it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

RULES = "rules"  # origin of notes that were not written by a model
ATTEMPTS = 3  # failures of a model after which a document is not retried until it changes


@dataclass(frozen=True, slots=True)
class Note:
    """
    Generated description of a document: keywords, tags and context.

    ``origin`` is `RULES` or the fingerprint of the model that wrote the note. ``cause`` is the document that
    triggered this version, ``None`` if that was a change of the document's own text; ``reason`` is the
    explanation given for it. ``version`` counts from 1; it is 0 until the note is stored.
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

    @property
    def says(self) -> tuple[tuple[str, ...], tuple[str, ...], str, str]:
        """Return the content that distinguishes versions: everything except the time and the cause of writing."""
        return self.keywords, self.tags, self.context, self.origin


@dataclass(frozen=True, slots=True)
class NoteCounts:
    """
    Numbers of served documents: with a note, with a note by a model, waiting for the rules, and given up by the model.
    """

    notes: int = 0
    by_model: int = 0
    waiting: int = 0
    given_up: int = 0


class NoteStore(Protocol):
    """
    Notes about documents, in all their versions, and the progress of each document.

    A document waits until its current source is settled: a document that was never processed waits, and so
    does one whose file has changed since. Only served documents are returned, counted as waiting, or listed.
    """

    def get(self, document_id: int) -> Note | None:
        """Return the latest note about a served document, or ``None``."""

    def history(self, document_id: int) -> list[Note]:
        """Return all versions of the note about a served document, oldest first."""

    def put(self, note: Note) -> int:
        """
        Store a note as the latest version. A note with the same content as the latest version is not stored again.

        Returns:
            The version number.

        Raises:
            InvalidInput: no document has that id.
        """

    def waiting(self, limit: int, *, by_model: bool, after: int = 0) -> list[int]:
        """
        Return up to *limit* waiting documents with ids above *after*, by id.

        Args:
            by_model: Also return documents settled by rules alone, unless a model failed on them `ATTEMPTS`
                times.
        """

    def settle(self, document_id: int, source_hash: str, *, by_model: bool) -> None:
        """
        Mark a document as settled for this source.

        Settling by a model resets the failure count. Settling by rules does not revert a document settled by
        a model.
        """

    def fail(self, document_id: int, source_hash: str, error: str) -> int:
        """
        Record that a model failed on a document that rules have settled.

        Returns:
            The number of failures for this source.
        """

    def counts(self) -> NoteCounts:
        """Return the progress counts."""

    def forget(self, document_id: int) -> int:
        """
        Delete every note about a document, served or not, and every note that it caused.

        A note that it caused about another document is deleted together with all later versions: that
        document waits again and keeps the version before.

        Returns:
            The number of notes deleted.
        """
