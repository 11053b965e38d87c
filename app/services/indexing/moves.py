"""Files against what the vault knows of their text: moved notes keep their document, forgotten texts stay away."""

from __future__ import annotations

from collections.abc import Mapping

from clawmem.app.services.indexing.source import ParsedSource
from clawmem.domain.documents.eligibility import is_excluded
from clawmem.ports.files import FileSource
from clawmem.ports.records import Document, InactiveReason, Scan
from clawmem.ports.vault import Vault


def is_forgotten_text(vault: Vault, hash: str) -> bool:
    """
    Whether the body with this *hash* was forgotten on request, and no document holds it any more.

    While another document holds the same text, the text is not gone, and its copies are indexed.
    """
    return vault.forgotten_texts.holds(hash) and not vault.documents.holding(hash)


def move(vault: Vault, past: Document, parsed: ParsedSource) -> None:
    """
    Give the document *past* the place of its moved file; inside `Vault.writing`, before *parsed* is published.

    A removed record without a stamp stays at the former place: other notes may name it by that path.
    """
    place = parsed.document
    vault.documents.move(past.id, place.collection, place.path)
    former = past._replace(
        id=0, stamp=None, pinned=False, snoozed_until=None, access_count=0, last_accessed_at=None
    )
    former_id = vault.documents.save(former, parsed.body, ())
    vault.documents.deactivate([former_id], InactiveReason.REMOVED)


def is_hidden(path: str, unreadable: tuple[str, ...]) -> bool:
    """Whether *path* is one of the folders that are *unreadable*, or lies below one."""
    return any(folder in ("", ".", path) or path.startswith(f"{folder}/") for folder in unreadable)


class MoveDetection:
    """Finds the document that a new file was before it was moved or renamed."""

    def __init__(self, vault: Vault, files: FileSource, roots: Mapping[str, str]) -> None:
        """
        Args:
            roots: The absolute folder of each collection, by its name.
        """
        self._vault = vault
        self._files = files
        self._roots = roots
        self._listings: dict[str, tuple[frozenset[str], Scan]] = {}  # by collection

    def look_again(self) -> None:
        """List the folders anew for the next question."""
        self._listings.clear()

    def past(self, hash: str) -> Document | None:
        """
        Return the one document with the body of this *hash* whose file is gone; ``None`` where several fit.

        A served document, whose removal no pass has seen yet, comes before removed ones.
        """
        holders = [one for one in self._vault.documents.holding(hash) if one.stamp and one.body_length]
        missing = [one for one in holders if one.inactive is None and self._is_missing(one)]
        removed = [one for one in holders if one.inactive is InactiveReason.REMOVED]
        found = missing or removed
        return found[0] if len(found) == 1 else None

    def _is_missing(self, document: Document) -> bool:
        """Whether the folder of *document* is there and its file is not; a folder that cannot be listed hides it."""
        if document.collection not in self._roots:
            return False
        files, scan = self._listing(document.collection)
        return (
            scan.root_exists and document.path not in files and not is_hidden(document.path, scan.unreadable)
        )

    def _listing(self, collection: str) -> tuple[frozenset[str], Scan]:
        if collection not in self._listings:
            scan = self._files.scan(
                self._roots[collection], enter=lambda path: not is_excluded(path), wanted=lambda path: True
            )
            self._listings[collection] = frozenset(file.path for file in scan.files), scan
        return self._listings[collection]
