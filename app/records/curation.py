"""The examination of the memory as a record, for the hook `curator-nudge` and for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import TypedDict

from clawmem.app.services.lifecycle.examining import recommended

if TYPE_CHECKING:
    from clawmem.app.services.lifecycle.examining import Examination


class Health(TypedDict):
    """Numbers of documents by state and of texts without vectors, and the problems around the vault."""

    active: int
    archived: int
    forgotten: int
    pinned: int
    snoozed: int
    neverAccessed: int
    embeddingBacklog: int
    infrastructure: list[str]


class Candidates(TypedDict):
    """The number of documents that could be archived."""

    candidates: int


class Retrieval(TypedDict):
    """Whether the latest note is found by its own title, and its score, from 0 to below 1."""

    bm25Pass: bool
    topScore: float


class Collections(TypedDict):
    """The number of collections, those missing from the configuration, and the share of unused documents."""

    total: int
    orphaned: list[str]
    neverAccessedPct: float


class CuratorReport(TypedDict):
    """The whole report; ``actions`` are sentences, each with a command to run."""

    timestamp: str
    health: Health
    sweep: Candidates
    consolidation: Candidates
    retrieval: Retrieval
    collections: Collections
    actions: list[str]


def curator_report(found: Examination) -> CuratorReport:
    """Return an examination as a record."""
    counts = found.lifecycle
    return {
        "timestamp": found.at,
        "health": {
            "active": counts.active,
            "archived": counts.archived,
            "forgotten": counts.forgotten,
            "pinned": counts.pinned,
            "snoozed": counts.snoozed,
            "neverAccessed": counts.never_accessed,
            "embeddingBacklog": found.pending,
            "infrastructure": list(found.problems),
        },
        "sweep": {"candidates": found.idle},
        "consolidation": {"candidates": found.duplicates},
        "retrieval": {"bm25Pass": found.is_found, "topScore": round(found.top_score, 4)},
        "collections": {
            "total": found.collections,
            "orphaned": list(found.unlisted),
            "neverAccessedPct": round(100 * found.never_accessed_share, 1),
        },
        "actions": list(recommended(found)),
    }
