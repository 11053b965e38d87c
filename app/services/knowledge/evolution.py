"""Version history of the notes about documents."""

from __future__ import annotations

from dataclasses import dataclass

from clawmem.ports.notes import Note
from clawmem.ports.records import Document
from clawmem.ports.vault import Vault


@dataclass(frozen=True, slots=True)
class Version:
    """
    One version of a note with the previous one, ``None`` for the first.

    ``cause`` is the document that triggered the version; ``None`` if it was the note's own document or is not served.
    """

    note: Note
    before: Note | None
    cause: Document | None


def versions(vault: Vault, document_id: int, limit: int) -> list[Version]:
    """Return the last *limit* versions of the note about a served document, newest first."""
    history = vault.notes.history(document_id)
    causes = vault.documents.many({note.cause for note in history if note.cause is not None})
    served = {number: one for number, one in causes.items() if one.inactive is None}
    pairs = zip(history, [None, *history], strict=False)
    every = [Version(note, before, served.get(note.cause or 0)) for note, before in pairs]
    return every[::-1][: max(limit, 0)]
