"""Ports: what is made of a document to find it by, and which documents wait for that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

RULES = "rules"  # the origin of what no model made
ATTEMPTS = 3  # failures of a model after which a document is left alone until it changes


@dataclass(frozen=True, slots=True)
class Note:
    """
    What a document is about.

    ``origin`` is `RULES` or the fingerprint of the model that wrote it. ``cause`` is the document that let it be
    written anew, ``None`` when that was its own text; ``reason`` is what was said of why. ``version`` counts from 1; it is 0 until it is kept.
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
        """What makes it another note: all of it but when and why it was written."""
        return self.keywords, self.tags, self.context, self.origin


@dataclass(frozen=True, slots=True)
class NoteCounts:
    """Served documents: with a note, with one by a model, that wait for rules, and that a model failed on for good."""

    notes: int = 0
    by_model: int = 0
    waiting: int = 0
    given_up: int = 0


class NoteStore(Protocol):
    """
    Notes about documents with every version of them, and how far each document is.

    A document waits as long as the source that it has now is not settled: one that nobody looked at, or whose file
    was changed since. Only served documents are answered and wait.
    """

    def get(self, document_id: int) -> Note | None:
        """The latest note about a served document."""
        ...

    def history(self, document_id: int) -> list[Note]:
        """Every note there was about a served document, the first one first."""
        ...

    def put(self, note: Note) -> int:
        """
        Keep a note as the latest; its version. One that says the same as the latest is not kept again.

        Raises:
            InvalidInput: no document has that id.
        """
        ...

    def waiting(self, limit: int, *, by_model: bool, after: int = 0) -> list[int]:
        """
        Up to *limit* documents that wait, by id, those with ids above *after*.

        Args:
            by_model: Also those that rules alone have settled, unless a model failed on them `ATTEMPTS` times.
        """
        ...

    def settle(self, document_id: int, source_hash: str, *, by_model: bool) -> None:
        """The document is done as of that source; what failed before is forgotten. Rules undo no model's work."""
        ...

    def fail(self, document_id: int, source_hash: str, error: str) -> int:
        """A model failed on what rules have settled; how often that was so for this source."""
        ...

    def counts(self) -> NoteCounts:
        """How far it is."""
        ...

    def forget(self, document_id: int) -> int:
        """
        Drop every note about a document, and every one that it caused; how many those were. Served or not.

        A note about another document that it caused goes with all that came later: that document waits again, and
        has the note from before.
        """
        ...
