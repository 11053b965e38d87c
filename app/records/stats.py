"""The vault in numbers as a record."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from typing_extensions import TypedDict

from clawmem.app.services.documents.stats import numbers
from clawmem.ports.sessions import Session

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.services.maintenance.status import StatusReport


class IndexStats(TypedDict):
    """
    The vault in numbers.

    ``collections`` is their number. ``stale_documents`` counts the documents past their review date;
    ``recent_sessions`` are the latest sessions, newest first.
    """

    total_documents: int
    needs_embedding: int
    has_vectors: bool
    collections: int
    content_types: dict[str, int]
    stale_documents: int
    average_access_count: float
    notes: int
    facts: int
    relations: dict[str, int]
    recorded_questions: int
    receipts: int
    recent_sessions: list[Session]


def status_of(services: Services) -> StatusReport:
    """Return the content of the vault and the state of its vectors."""
    report = services.status()
    # Status requests open the vault for reading, which says nothing about the vault itself.
    return replace(report, info=replace(report.info, read_only=services.settings.read_only))


def stats_of(services: Services) -> IndexStats:
    """Return the current numbers of the vault."""
    found = numbers(services.vault, services.clock, services.status)
    report = found.status
    return {
        "total_documents": report.documents,
        "needs_embedding": report.embeddings.pending,
        "has_vectors": report.embeddings.stored > 0,
        "collections": len(report.collections),
        "content_types": report.content_types,
        "stale_documents": found.stale,
        "average_access_count": found.mean_accesses,
        "notes": report.notes.notes,
        "facts": sum(services.vault.triples.counts().values()),
        "relations": report.relations,
        "recorded_questions": report.recalls,
        "receipts": report.receipts,
        "recent_sessions": found.sessions,
    }
