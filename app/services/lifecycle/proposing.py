"""What the record of surfaced documents says about them: which had better be pinned, which snoozed."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from clawmem.app.services.lifecycle.surfaced import surfaced_stats
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.lifecycle.recall import is_pin_candidate, is_snooze_candidate
from clawmem.ports.captures import RecallStats
from clawmem.ports.clock import Clock
from clawmem.ports.records import Document
from clawmem.ports.vault import Vault

MOST = 5  # of each: somebody has to look at them


class Proposals(NamedTuple):
    """Documents that are served, and neither pinned nor snoozed yet; the most surfaced first."""

    pin: tuple[Document, ...] = ()
    snooze: tuple[Document, ...] = ()


class Propose:
    """Reads what was surfaced, as far back as that is kept; changes nothing."""

    def __init__(self, vault: Vault, clock: Clock) -> None:
        self._vault = vault
        self._clock = clock

    def __call__(self) -> Proposals:
        """Up to `MOST` documents for each."""
        stats, now = surfaced_stats(self._vault.telemetry), iso_utc(self._clock.now_ms())
        known = self._vault.documents.many(stats).values()
        free = [
            one for one in known if one.inactive is None and not one.is_pinned and not one.is_snoozed(now)
        ]

        def chosen(fits: Callable[[RecallStats], bool]) -> tuple[Document, ...]:
            found = [one for one in free if fits(stats[one.id])]
            return tuple(sorted(found, key=lambda one: (-stats[one.id].recalls, one.display_path))[:MOST])

        return Proposals(chosen(is_pin_candidate), chosen(is_snooze_candidate))
