"""Rules that decide whether the record of a file is up to date."""

from __future__ import annotations

from clawmem.ports.records import Document, InactiveReason, SourceStamp

FileVersion = tuple[int, InactiveReason | None, str, SourceStamp | None]


def is_kept_away(document: Document | None) -> bool:
    """Whether no version of the file is indexed: its document was forgotten."""
    return document is not None and document.inactive is InactiveReason.FORGOTTEN


def is_current(document: Document | None, source_hash: str) -> bool:
    """
    Whether a record speaks for a file of this hash, served or not.

    An archived or superseded document stays inactive as long as its file is unchanged; an edited file becomes
    active. A removed document never speaks for a file: the file is back.
    """
    if document is None or document.inactive is InactiveReason.REMOVED:
        return False
    return document.source_hash == source_hash


def version_of(document: Document | None) -> FileVersion | None:
    """Return the facts of a document that change whenever a process indexes, archives, restores or forgets it."""
    if document is None:
        return None
    return document.id, document.inactive, document.source_hash, document.stamp
