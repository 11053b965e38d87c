"""Trends of consolidated observations: whether a repeated observation still occurs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from clawmem.domain.documents.times import parse_iso
from clawmem.domain.maintenance import patterns
from clawmem.domain.maintenance.patterns import Trend, trend
from clawmem.ports.records import Document
from clawmem.ports.vault import Vault


class ObservationTrend(NamedTuple):
    """A consolidated document with the number of its occasions, the first and last day, and its trend."""

    document: Document
    times: int
    first: str
    last: str
    trend: Trend


def trends(vault: Vault, documents: Iterable[Document], now_ms: int) -> list[ObservationTrend]:
    """Return the trends of the consolidated ones among *documents*, in their order."""
    consolidated = (one for one in documents if patterns.CONSOLIDATED in one.tags)
    return [_trending(vault, one, now_ms) for one in consolidated]


def _trending(vault: Vault, document: Document, now_ms: int) -> ObservationTrend:
    occasions = patterns.occurrences_of(document, vault.documents.body(document.id) or "")
    days = sorted(one.day for one in occasions) or [document.authored_at[:10]]
    first, last = (now_ms if (ms := parse_iso(day)) is None else ms for day in (days[0], days[-1]))
    return ObservationTrend(document, len(days), days[0], days[-1], trend(first, last, len(days), now_ms))
