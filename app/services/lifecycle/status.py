"""Statistics of the lifecycle and of surfaced documents."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import NamedTuple

from clawmem.app.services.documents.listing import every_served
from clawmem.app.services.surfacing.turns import CONTEXT_SURFACING
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.lifecycle.policy import ArchivePolicy
from clawmem.domain.lifecycle.recall import Surfacing, is_pin_candidate, is_snooze_candidate, recall_stats
from clawmem.ports.captures import RecallStats
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore
from clawmem.ports.records import Document, InactiveReason
from clawmem.ports.telemetry import Telemetry


def last_accesses(telemetry: Telemetry) -> dict[int, str]:
    """Return when each document was last found by a question, or surfaced and then used, within the retention time."""
    return {
        hit.document_id: recall.asked_at
        for recall in telemetry.recalls()  # oldest first
        for hit in recall.hits
        if recall.verb != CONTEXT_SURFACING or hit.was_referenced
    }


def surfaced_stats(telemetry: Telemetry) -> dict[int, RecallStats]:
    """Return statistics by document within the retention time. Searches do not count, as their use is unknown."""
    times = defaultdict[int, list[Surfacing]](list)
    for recall in telemetry.recalls():
        if recall.verb == CONTEXT_SURFACING:
            for hit in recall.hits:
                times[hit.document_id].append(
                    Surfacing(recall.asked_at, recall.query_hash, hit.was_referenced)
                )
    return {number: recall_stats(number, found) for number, found in times.items()}


@dataclass(frozen=True, slots=True)
class LifecycleStatus:
    """
    Numbers of documents by state; pinned, snoozed and never accessed ones are served documents.

    An access is an answer to a question that names the document, or its use after it was surfaced. ``oldest_access``
    is the earliest last access of a document, ``None`` if there was none. ``surfaced`` documents
    were added to prompts within the retention time; ``pin_candidates`` of them were used repeatedly, and
    ``snooze_candidates`` surfaced often without being used. ``policy`` is the configured one, or ``None``.
    """

    active: int
    archived: int
    forgotten: int
    pinned: int
    snoozed: int
    never_accessed: int
    oldest_access: str | None
    recalls: int
    surfaced: int
    pin_candidates: int
    snooze_candidates: int
    policy: ArchivePolicy | None


class _Standing(NamedTuple):
    """The state of one document."""

    id: int
    is_pinned: bool
    is_snoozed: bool
    accessed_at: str | None


def _standing(one: Document, now: str) -> _Standing:
    return _Standing(one.id, one.is_pinned, one.is_snoozed(now), one.last_accessed_at)


def lifecycle_status(
    documents: DocumentStore, telemetry: Telemetry, clock: Clock, policy: ArchivePolicy | None
) -> LifecycleStatus:
    """Return the current statistics."""
    now = iso_utc(clock.now_ms())
    served = [_standing(one, now) for one in every_served(documents)]
    away = Counter(one.inactive for one in documents.latest(active=False))
    recalled = last_accesses(telemetry)
    accessed = [at for one in served if (at := max(one.accessed_at or "", recalled.get(one.id, "")))]
    stats = surfaced_stats(telemetry)
    surfaced = [one for one in served if one.id in stats]
    free = [stats[one.id] for one in surfaced if not one.is_pinned and not one.is_snoozed]
    return LifecycleStatus(
        active=len(served),
        archived=away[InactiveReason.ARCHIVED],
        forgotten=away[InactiveReason.FORGOTTEN],
        pinned=sum(one.is_pinned for one in served),
        snoozed=sum(one.is_snoozed for one in served),
        never_accessed=len(served) - len(accessed),
        oldest_access=min(accessed, default=None),
        recalls=telemetry.count(),
        surfaced=len(surfaced),
        pin_candidates=sum(map(is_pin_candidate, free)),
        snooze_candidates=sum(map(is_snooze_candidate, free)),
        policy=policy,
    )
