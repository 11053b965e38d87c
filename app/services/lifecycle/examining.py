"""Examination of a vault: duplicates, statistics, problems and recommendations."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from clawmem.app.services.indexing.collections import leftover_collections
from clawmem.app.services.lifecycle.archiving import Archiving, LifecycleStatus, lifecycle_status
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.lifecycle.policy import (
    ArchivePolicy,
    is_duplicate,
    is_replaceable,
    shared,
    significant_words,
)
from clawmem.domain.retrieval.bm25 import lexical_score
from clawmem.domain.retrieval.query_forms import query_forms
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore
from clawmem.ports.indexes import EmbeddingStore, LexicalIndex
from clawmem.ports.records import Document, Grain, Scope
from clawmem.ports.telemetry import Telemetry

MOST = 50  # notes to examine, those with the lowest confidence first
LOOKED_AT = 5  # candidates per note, found by its title


class Duplicate(NamedTuple):
    """A note, the note that says the same and is kept, and the share of words that both contain."""

    document: Document
    kept: Document
    overlap: float


GOOD = 0.3  # least score at which a note counts as found by its own title
OFTEN_UNUSED, MANY = 0.3, 50  # share of documents never accessed, and least number of documents, to report it


@dataclass(frozen=True, slots=True)
class Examination:
    """
    Result of an examination.

    ``problems`` are those that the caller found outside the vault. ``top_score`` in [0, 1) is the score of the latest
    note for its own title; ``unlisted`` are collections with documents that are not configured.
    """

    at: str
    lifecycle: LifecycleStatus
    pending: int
    problems: Sequence[str]
    idle: int
    duplicates: int
    top_score: float
    collections: int
    unlisted: Sequence[str]

    @property
    def is_found(self) -> bool:
        """Whether lexical search finds the latest note by its title; also True for an empty vault."""
        return self.top_score > GOOD or not self.lifecycle.active

    @property
    def never_accessed_share(self) -> float:
        """The share of served documents that were never accessed, in [0, 1]."""
        return self.lifecycle.never_accessed / max(1, self.lifecycle.active)


@dataclass(frozen=True, slots=True)
class Curator:
    """
    Finds duplicates by words alone, and examines the vault.

    Duplicates are archived with the reason, and can be restored.
    """

    documents: DocumentStore
    lexical: LexicalIndex
    embeddings: EmbeddingStore
    telemetry: Telemetry
    archiving: Archiving
    clock: Clock

    def duplicates(self, most: int = MOST) -> list[Duplicate]:
        """Return the duplicates of other notes of their collection among the *most* notes of lowest confidence."""
        unsure = sorted(
            filter(is_replaceable, self.documents.latest()), key=lambda note: (note.confidence, note.id)
        )
        found: dict[int, Duplicate] = {}
        for document in unsure[: max(most, 0)]:
            # A note that is kept in favour of another one is no duplicate itself, and vice versa.
            if document.id in {one.kept.id for one in found.values()}:
                continue
            if duplicate := self._of(document, found):
                found[document.id] = duplicate
        return list(found.values())

    def archive_duplicates(self, found: Sequence[Duplicate], by: str) -> None:
        """
        Archive the duplicates.

        Raises:
            VaultError: nothing was archived.
        """
        duplicates = {duplicate.document.id: duplicate for duplicate in found}
        self.archiving.archive(
            [duplicate.document for duplicate in found],
            by,
            lambda note: (
                f"says the same as {duplicates[note.id].kept.display_path} "
                f"({duplicates[note.id].overlap:.0%} of the words)"
            ),
        )

    def _of(self, document: Document, gone: Collection[int]) -> Duplicate | None:
        """Return the duplicate for the best note that says the same, among those that match its title, or ``None``."""
        own = self._words(document)
        query, scope = query_forms(document.title).relaxed, Scope(frozenset({document.collection}))
        hits = self.lexical.search(query, Grain.DOCUMENT, LOOKED_AT + 1, scope)
        known = self.documents.many(hit.key.document_id for hit in hits)
        for hit in hits:
            other = known.get(hit.key.document_id)
            if other is None or other.id in gone or other.id == document.id:
                continue
            overlap = shared(own, self._words(other))
            if is_duplicate(lexical_score(hit.score), overlap):
                return Duplicate(document, other, overlap)
        return None

    def _words(self, document: Document) -> frozenset[str]:
        return significant_words(self.documents.body(document.id) or "")

    def examine(
        self, policy: ArchivePolicy | None, configured: Collection[str], problems: Sequence[str]
    ) -> Examination:
        """
        Return the result of an examination.

        Args:
            configured: The names of the configured collections.
            problems: Sentences about other problems that the caller found.
        """
        top_score = 0.0
        for document in self.documents.latest(limit=1):
            hits = self.lexical.search(query_forms(document.title).relaxed, Grain.DOCUMENT, 1)
            top_score = max((lexical_score(hit.score) for hit in hits), default=0.0)
        return Examination(
            at=iso_utc(self.clock.now_ms()),
            lifecycle=lifecycle_status(self.documents, self.telemetry, self.clock, policy),
            pending=self.embeddings.counts().pending,
            problems=problems,
            idle=len(self.archiving.due(policy)) if policy else 0,
            duplicates=len(self.duplicates()),
            top_score=top_score,
            collections=len(self.documents.collections()),
            unlisted=sorted(leftover_collections(self.documents, configured)),
        )


def recommended(found: Examination) -> Iterator[str]:
    """Yield recommendations, one sentence each with the command; none of them is carried out automatically."""
    counts = found.lifecycle
    yield from found.problems
    if not found.is_found:
        yield "The latest note is not found by its own title: clawmem doctor, then clawmem rebuild."
    if found.idle:
        yield f"{found.idle} notes are idle by the policy: clawmem lifecycle sweep --dry-run names them."
    if found.duplicates:
        yield f"{found.duplicates} unsure notes say what others say: clawmem consolidate --dry-run names them."
    if counts.pin_candidates or counts.snooze_candidates:
        yield (
            f"{counts.pin_candidates} notes are wanted again and again, {counts.snooze_candidates} surface without "
            "any use: clawmem lifecycle sweep --dry-run names them."
        )
    if counts.active > MANY and found.never_accessed_share > OFTEN_UNUSED:
        yield f"{found.never_accessed_share:.0%} of the notes were never of use: clawmem report shows which."
