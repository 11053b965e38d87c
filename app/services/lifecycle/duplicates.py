"""Duplicate notes: low-confidence notes that say the same as another one, and their archiving."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from clawmem.app.services.lifecycle.archiving import Archiving
from clawmem.domain.lifecycle.duplicates import is_duplicate, is_replaceable, shared, significant_words
from clawmem.domain.retrieval.bm25 import lexical_score
from clawmem.domain.retrieval.query_forms import query_forms
from clawmem.ports.records import Document, Grain, Scope
from clawmem.ports.vault import Vault

MOST = 50  # notes to examine, those with the lowest confidence first
LOOKED_AT = 5  # candidates per note, found by its title


class Duplicate(NamedTuple):
    """A note, the note that says the same and is kept, and the share of words that both contain."""

    document: Document
    kept: Document
    overlap: float


class Duplicates:
    """Finds duplicates by words alone. Duplicates are archived with the reason, and can be restored."""

    def __init__(self, vault: Vault, archiving: Archiving) -> None:
        self._vault = vault
        self._archiving = archiving

    def __call__(self, most: int = MOST) -> list[Duplicate]:
        """Return the duplicates of other notes of their collection among the *most* notes of lowest confidence."""
        unsure = sorted(
            filter(is_replaceable, self._vault.documents.latest()), key=lambda one: (one.confidence, one.id)
        )
        found: dict[int, Duplicate] = {}
        for document in unsure[: max(most, 0)]:
            # A note that is kept in favour of another one is no duplicate itself, and vice versa.
            if document.id in {one.kept.id for one in found.values()}:
                continue
            if duplicate := self._of(document, found):
                found[document.id] = duplicate
        return list(found.values())

    def archive(self, found: Sequence[Duplicate], by: str) -> None:
        """
        Archive the duplicates.

        Raises:
            VaultError: nothing was archived.
        """
        kept = {one.document.id: one for one in found}
        self._archiving.archive(
            [one.document for one in found],
            by,
            lambda one: (
                f"says the same as {kept[one.id].kept.display_path} ({kept[one.id].overlap:.0%} of the words)"
            ),
        )

    def _of(self, document: Document, gone: Collection[int]) -> Duplicate | None:
        """Return the duplicate for the best matching note that says the same, or ``None``."""
        own = self._words(document)
        for other, score in self._near(document):
            if other.id in gone or other.id == document.id:
                continue
            overlap = shared(own, self._words(other))
            if is_duplicate(score, overlap):
                return Duplicate(document, other, overlap)
        return None

    def _near(self, document: Document) -> list[tuple[Document, float]]:
        """Return the notes of its collection that match words of its title, best first, with scores in [0, 1)."""
        query, scope = query_forms(document.title).relaxed, Scope(frozenset({document.collection}))
        hits = self._vault.lexical.search(query, Grain.DOCUMENT, LOOKED_AT + 1, scope)
        known = self._vault.documents.many(hit.key.document_id for hit in hits)
        return [
            (known[hit.key.document_id], lexical_score(hit.score))
            for hit in hits
            if hit.key.document_id in known
        ]

    def _words(self, document: Document) -> frozenset[str]:
        return significant_words(self._vault.documents.body(document.id) or "")
