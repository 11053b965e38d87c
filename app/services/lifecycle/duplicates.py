"""Notes that nobody is sure of, and that say what another one says: found, and put away for it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from clawmem.app.services.lifecycle.archiving import Archiving
from clawmem.domain.lifecycle.duplicates import is_duplicate, is_replaceable, shared, significant_words
from clawmem.domain.retrieval.bm25 import lexical_score
from clawmem.domain.retrieval.query_forms import query_forms
from clawmem.ports.records import Document, Grain, Scope
from clawmem.ports.vault import Vault

MOST = 50  # notes that are looked at, the least sure first
LOOKED_AT = 5  # that are found by the title of one


class Duplicate(NamedTuple):
    """A note, the one that says the same and stays, and which share of their words both have."""

    document: Document
    kept: Document
    overlap: float


class Duplicates:
    """Looks by words alone; what it puts away is archived with its reason, and can be taken back."""

    def __init__(self, vault: Vault, archiving: Archiving) -> None:
        self._vault = vault
        self._archiving = archiving

    def __call__(self, most: int = MOST) -> list[Duplicate]:
        """Among the *most* least sure notes those that say what another one of their collection says."""
        unsure = sorted(
            filter(is_replaceable, self._vault.documents.latest()), key=lambda one: (one.confidence, one.id)
        )
        found: dict[int, Duplicate] = {}
        for document in unsure[: max(most, 0)]:
            # What others were put away for stays, and what was put away is nothing to be put away for.
            if document.id in {one.kept.id for one in found.values()}:
                continue
            if duplicate := self._of(document, found):
                found[document.id] = duplicate
        return list(found.values())

    def archive(self, found: Sequence[Duplicate], by: str) -> None:
        """
        Put these away.

        Raises:
            VaultError: none was.
        """
        kept = {one.document.id: one for one in found}
        self._archiving.archive(
            [one.document for one in found],
            by,
            lambda one: (
                f"says what {kept[one.id].kept.display_path} says ({kept[one.id].overlap:.0%} of the words)"
            ),
        )

    def _of(self, document: Document, gone: Collection[int]) -> Duplicate | None:
        """The best other note that says the same."""
        own = self._words(document)
        for other, score in self._near(document):
            if other.id in gone or other.id == document.id:
                continue
            overlap = shared(own, self._words(other))
            if is_duplicate(score, overlap):
                return Duplicate(document, other, overlap)
        return None

    def _near(self, document: Document) -> list[tuple[Document, float]]:
        """What words of its title find in its collection, best first, with scores in [0, 1)."""
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
