"""Detection of moved notes, which keep their document, and of forgotten texts, which are not indexed."""

from __future__ import annotations

from collections.abc import Mapping

from clawmem.app.services.indexing.source import ParsedSource
from clawmem.domain.documents.identity import body_hash
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import SourceMissing, SourceUnreadable
from clawmem.ports.files import FileSource
from clawmem.ports.journal import ForgottenTexts
from clawmem.ports.records import Document, InactiveReason


def is_forgotten_text(documents: DocumentStore, forgotten: ForgottenTexts, body: str) -> bool:
    """
    Whether *body* was forgotten on request, and no document contains it any more.

    While another document has the same text, copies of it are indexed.
    """
    return forgotten.holds(body) and not documents.holding(body_hash(body))


def is_forgotten_file(
    documents: DocumentStore, forgotten: ForgottenTexts, body: str, *records: Document | None
) -> bool:
    """
    Whether a file with this *body* has a text that was forgotten on request.

    *records* are those of the file, at its place and before it was moved. Where one has a forgotten text, it is a copy
    that was served when the other note was forgotten, and stays.
    """
    return forgotten.holds(body) and not any(
        forgotten.holds(documents.body(document.id) or "") for document in records if document
    )


def is_hidden(path: str, unreadable: tuple[str, ...]) -> bool:
    """Whether *path* is one of the *unreadable* folders, or below one."""
    return any(folder in ("", ".", path) or path.startswith(f"{folder}/") for folder in unreadable)


def former_document(
    documents: DocumentStore, files: FileSource, roots: Mapping[str, str], parsed: ParsedSource
) -> Document | None:
    """
    Return the document whose file was moved or renamed to the new file *parsed*; ``None`` if several match.

    It has the same text, and its file is gone: its folder can be read and does not have it any more. A served document
    goes before a removed one. Of several new files the first one is the document, and the others are copies.

    Args:
        roots: The absolute folder of each collection, by its name.
    """
    holders = documents.holding(parsed.document.hash) if parsed.body else ()
    holders = [note for note in holders if note.stamp]
    matches = [note for note in holders if note.inactive is None and _has_lost_file(files, roots, note)]
    matches = matches or [note for note in holders if note.inactive is InactiveReason.REMOVED]
    return matches[0] if len(matches) == 1 else None


def _has_lost_file(files: FileSource, roots: Mapping[str, str], document: Document) -> bool:
    root = roots.get(document.collection)
    if root is None or not files.scan(root, enter=lambda path: False, wanted=lambda path: False).root_exists:
        return False
    try:
        files.read(root, document.path)
    except SourceMissing:
        return True
    except SourceUnreadable:
        return False
    return False
