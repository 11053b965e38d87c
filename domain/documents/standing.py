"""Rules for the state of a record: whether it is up to date, forgotten, or lost its text."""

from __future__ import annotations

from hashlib import sha256

from clawmem.ports.records import Document, InactiveReason, SourceStamp

NO_TEXT = sha256(b"").hexdigest()
FileVersion = tuple[int, InactiveReason | None, str, SourceStamp | None]


def is_forgotten(document: Document | None) -> bool:
    """Whether the file must not be indexed in any version, because its document was forgotten."""
    return document is not None and document.inactive is InactiveReason.FORGOTTEN


def has_lost_text(document: Document) -> bool:
    """Whether damage destroyed the only copy of the text: a repair keeps the record, without the hash of its source."""
    is_withdrawn = document.inactive not in (None, InactiveReason.FORGOTTEN)
    return is_withdrawn and document.stamp is None and not document.source_hash and document.hash == NO_TEXT


def is_current(document: Document | None, source_hash: str) -> bool:
    """
    Whether a record is valid for a file with this hash, whether the document is active or not.

    An archived or superseded document stays inactive while its file is unchanged; an edited file becomes active. The
    record of a removed document is never valid: its file exists again.
    """
    if document is None or document.inactive is InactiveReason.REMOVED:
        return False
    return document.source_hash == source_hash


def version_of(document: Document | None) -> FileVersion | None:
    """Return the properties of a document that change when a process indexes, archives, restores or forgets it."""
    if document is None:
        return None
    return document.id, document.inactive, document.source_hash, document.stamp
