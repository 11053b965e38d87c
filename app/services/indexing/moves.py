"""Files against what the vault knows of their text: moved notes keep their document, forgotten texts stay away."""

from __future__ import annotations

from collections.abc import Mapping

from clawmem.app.services.indexing.source import ParsedSource
from clawmem.ports.files import FileSource
from clawmem.ports.records import Document, InactiveReason
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
        root, path = self._roots.get(document.collection), document.path
        if root is None:
            return False
        scan = self._files.scan(
            root, enter=lambda folder: path.startswith(f"{folder}/"), wanted=lambda file: file == path
        )
        return scan.root_exists and not scan.files and not scan.unreadable
