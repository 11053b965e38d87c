"""Proposals of documents to pin or to snooze, from the record of surfaced documents."""

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

MOST = 5  # proposals of each kind, as a person has to read them


class Proposals(NamedTuple):
    """Served documents that are neither pinned nor snoozed, most surfaced first."""

    pin: tuple[Document, ...] = ()
    snooze: tuple[Document, ...] = ()


class Propose:
    """Reads the retained record of surfaced documents; changes nothing."""

    def __init__(self, vault: Vault, clock: Clock) -> None:
        self._vault = vault
        self._clock = clock

    def __call__(self) -> Proposals:
        """Return up to `MOST` documents of each kind."""
        stats, now = surfaced_stats(self._vault.telemetry), iso_utc(self._clock.now_ms())
        known = self._vault.documents.many(stats).values()
        free = [
            one for one in known if one.inactive is None and not one.is_pinned and not one.is_snoozed(now)
        ]

        def chosen(fits: Callable[[RecallStats], bool]) -> tuple[Document, ...]:
            found = [one for one in free if fits(stats[one.id])]
            return tuple(sorted(found, key=lambda one: (-stats[one.id].recalls, one.display_path))[:MOST])

        return Proposals(chosen(is_pin_candidate), chosen(is_snooze_candidate))
