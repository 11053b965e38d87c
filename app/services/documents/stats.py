"""Vault statistics for maintainers."""

from __future__ import annotations

from dataclasses import dataclass

from clawmem.app.services.documents.walking import every_served
from clawmem.app.services.maintenance.status import Status, StatusReport
from clawmem.domain.documents.times import iso_utc
from clawmem.ports.clock import Clock
from clawmem.ports.sessions import Session
from clawmem.ports.vault import Vault

RECENT = 5
DAY = len("2026-03-31")


@dataclass(frozen=True, slots=True)
class VaultStatistics:
    """
    The counts of `Status`; and the number of served documents past their review date, their mean number of accesses,
    and the latest sessions, newest first.
    """

    status: StatusReport
    stale: int
    mean_accesses: float
    sessions: list[Session]


def numbers(vault: Vault, clock: Clock, status: Status) -> VaultStatistics:
    """Return the current statistics. Raises `VaultError` if the vault cannot be read."""
    told, today = status(), iso_utc(clock.now_ms())[:DAY]
    served = [(one.review_by, one.access_count) for one in every_served(vault.documents)]
    return VaultStatistics(
        told,
        stale=sum(bool(day) and str(day)[:DAY] < today for day, _ in served),
        mean_accesses=round(sum(number for _, number in served) / max(1, len(served)), 2),
        sessions=vault.sessions.recent(RECENT),
    )
