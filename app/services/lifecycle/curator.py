"""Examination of a vault: duplicates, statistics, problems and recommendations."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, NamedTuple

from clawmem.app.services.lifecycle.actions import Lifecycle
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.lifecycle.policy import ArchivePolicy
from clawmem.domain.retrieval.bm25 import lexical_score
from clawmem.domain.retrieval.query_forms import query_forms
from clawmem.domain.text.likeness import jaccard
from clawmem.domain.text.words import words
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore
from clawmem.ports.indexes import EmbeddingStore, LexicalIndex
from clawmem.ports.records import Document, Grain, Scope

MOST = 50  # notes to examine, those with the lowest confidence first
LOOKED_AT = 5  # candidates per note, found by its title
UNSURE = 0.4  # stored confidence below which a note is archived in favour of a duplicate
LEAST_SCORE = 0.7  # score of the duplicate in a search for the title of the note: |BM25| of 2.33
LEAST_SHARED = 0.4  # Jaccard similarity of the words of both notes
SHORTEST = 4  # letters of a word that is compared
GOOD = 0.3  # least score at which a note counts as found by its own title
OFTEN_UNUSED, MANY = 0.3, 50  # share of documents never accessed, and least number of documents, to report it


class Duplicate(NamedTuple):
    """A note, the note that says the same and is kept, and the share of words that both contain."""

    document: Document
    kept: Document
    overlap: float


@dataclass(frozen=True, slots=True)
class CuratorReport:
    """
    An examination of the memory.

    ``health`` has numbers of documents by state, of texts without vectors, and the problems around the vault;
    ``retrieval`` whether the latest note is found by its own title; ``actions`` are sentences, each with a command.
    ``written_to`` is the file of the report, for the hook.
    """

    timestamp: str
    health: dict[str, Any]
    sweep: dict[str, int]
    consolidation: dict[str, int]
    retrieval: dict[str, Any]
    collections: dict[str, Any]
    actions: list[str]
    written_to: str


@dataclass(frozen=True, slots=True)
class Curator:
    """
    Finds duplicates by words alone, and examines the vault.

    Duplicates are archived with the reason, and can be restored.
    """

    documents: DocumentStore
    lexical: LexicalIndex
    embeddings: EmbeddingStore
    lifecycle: Lifecycle
    leftovers: Collection[str]
    clock: Clock

    def duplicates(self, most: int = MOST) -> list[Duplicate]:
        """Return the duplicates of other notes of their collection among the *most* notes of lowest confidence."""
        unsure = [note for note in self.documents.latest() if note.confidence < UNSURE and not note.is_pinned]
        unsure.sort(key=attrgetter("confidence", "id"))
        duplicates: dict[int, Duplicate] = {}
        for document in unsure[:most]:
            # A note that is kept in favour of another one is no duplicate itself, and vice versa.
            if any(duplicate.kept.id == document.id for duplicate in duplicates.values()):
                continue
            own = self._words(document)
            query, scope = query_forms(document.title).relaxed, Scope(frozenset({document.collection}))
            hits = self.lexical.search(query, Grain.DOCUMENT, LOOKED_AT + 1, scope)
            known = self.documents.many(hit.key.document_id for hit in hits)
            for hit in hits:
                other = known.get(hit.key.document_id)
                if other is None or other.id in {document.id, *duplicates}:
                    continue
                overlap = jaccard(own, self._words(other))
                if lexical_score(hit.score) >= LEAST_SCORE and overlap >= LEAST_SHARED:
                    duplicates[document.id] = Duplicate(document, other, overlap)
                    break
        return list(duplicates.values())

    def _words(self, document: Document) -> frozenset[str]:
        body = self.documents.body(document.id) or ""
        return frozenset(word for word in words(body) if len(word) >= SHORTEST)

    def archive_duplicates(self, duplicates: Sequence[Duplicate], by: str) -> None:
        """Archive the duplicates. Raises `VaultError` if nothing was archived."""
        why = "says the same as {} ({:.0%} of the words)"
        reasons = [(copy, why.format(kept.display_path, overlap)) for copy, kept, overlap in duplicates]
        self.lifecycle.archive(reasons, by)

    def examine(
        self,
        policy: ArchivePolicy | None,
        problems: Sequence[str],
        written_to: str,
    ) -> CuratorReport:
        """
        Return the result of an examination.

        Args:
            problems: Sentences about other problems that the caller found.
        """
        top_score = 0.0
        for document in self.documents.latest(limit=1):
            hits = self.lexical.search(query_forms(document.title).relaxed, Grain.DOCUMENT, 1)
            top_score = max((lexical_score(hit.score) for hit in hits), default=0.0)
        status = self.lifecycle.status(policy)
        is_found = top_score > GOOD or not status.active
        idle, duplicates = len(self.lifecycle.due(policy)) if policy else 0, len(self.duplicates())
        proposals = status.pin_candidates + status.snooze_candidates
        unused = status.never_accessed / max(1, status.active)
        advice = {
            "The latest note is not found by its own title: clawmem doctor, then clawmem rebuild.": not is_found,
            f"{idle} notes are idle by the policy: clawmem archive --dry-run names them.": idle,
            f"{duplicates} unsure notes say what others say: clawmem maintain consolidate --dry-run.": duplicates,
            f"{proposals} notes should be pinned or snoozed: clawmem archive --dry-run names them.": proposals,
            f"{unused:.0%} of the notes were never of use: clawmem report shows which.": status.active > MANY
            and unused > OFTEN_UNUSED,
        }
        return CuratorReport(
            timestamp=iso_utc(self.clock.now_ms()),
            health={
                **{
                    state: getattr(status, state)
                    for state in ("active", "archived", "forgotten", "pinned", "snoozed")
                },
                "neverAccessed": status.never_accessed,
                "embeddingBacklog": self.embeddings.counts().pending,
                "infrastructure": list(problems),
            },
            sweep={"candidates": idle},
            consolidation={"candidates": duplicates},
            retrieval={"bm25Pass": is_found, "topScore": round(top_score, 4)},
            collections={
                "total": len(self.documents.collections()),
                "orphaned": sorted(self.leftovers),
                "neverAccessedPct": round(100 * unused, 1),
            },
            actions=[*problems, *(sentence for sentence, is_due in advice.items() if is_due)],
            written_to=written_to,
        )
