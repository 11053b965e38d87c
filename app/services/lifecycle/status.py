"""Lifecycle statistics of a vault."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

from clawmem.app.services.documents.walking import every_served
from clawmem.app.services.lifecycle.surfaced import last_accesses, surfaced_stats
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.lifecycle.policy import ArchivePolicy
from clawmem.domain.lifecycle.recall import is_pin_candidate, is_snooze_candidate
from clawmem.ports.clock import Clock
from clawmem.ports.records import Document, InactiveReason
from clawmem.ports.vault import Vault


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


def lifecycle_status(vault: Vault, clock: Clock, policy: ArchivePolicy | None) -> LifecycleStatus:
    """Return the current statistics."""
    now = iso_utc(clock.now_ms())
    served = [_standing(one, now) for one in every_served(vault.documents)]
    away = Counter(one.inactive for one in vault.documents.latest(active=False))
    recalled = last_accesses(vault.telemetry)
    accessed = [at for one in served if (at := max(one.accessed_at or "", recalled.get(one.id, "")))]
    stats = surfaced_stats(vault.telemetry)
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
        recalls=vault.telemetry.count(),
        surfaced=len(surfaced),
        pin_candidates=sum(map(is_pin_candidate, free)),
        snooze_candidates=sum(map(is_snooze_candidate, free)),
        policy=policy,
    )
