"""Statistics over the times a document was surfaced, from which pin and snooze candidates are derived."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import log
from typing import NamedTuple

from clawmem.domain.documents.times import DAY_MS, parse_iso
from clawmem.ports.telemetry import Recall

ENOUGH = 5  # distinct queries or days at which the measures reach their maximum

PIN_DIVERSITY, PIN_SPACING, PIN_RECALLS = 0.4, 0.5, 3
SNOOZE_RECALLS, SNOOZE_IGNORED = 5, 0.8


class Surfacing(NamedTuple):
    """One time that a document was added to a prompt: when, to which prompt, and whether the answer used it."""

    at: str
    query_hash: str
    was_referenced: bool = False


class RecallStats(NamedTuple):
    """
    Statistics over the times at which one document was surfaced.

    ``queries`` and ``days`` count distinct values; ``negatives`` the times at which the document was not used.
    ``diversity`` is from 0 to 1 with the distinct queries and days, ``spacing`` with their even distribution over time.
    """

    recalls: int
    queries: int
    days: int
    negatives: int
    diversity: float
    spacing: float


def recall_stats(times: Sequence[Surfacing]) -> RecallStats:
    """Return the statistics of *times*, one or more in any order."""
    days = sorted({surfacing.at[: len("2026-03-31")] for surfacing in times})
    queries = len({surfacing.query_hash for surfacing in times})
    spacing = 0.2
    if len(days) > 1:
        first, last = parse_iso(days[0]), parse_iso(days[-1])
        span_days = 0.0 if first is None or last is None else (last - first) / DAY_MS
        spacing = 0.55 * min(1.0, log(len(days)) / log(ENOUGH)) + 0.45 * min(1.0, span_days / 7.0)
    negatives = sum(not surfacing.was_referenced for surfacing in times)
    diversity = min(1.0, max(queries, len(days)) / ENOUGH)
    return RecallStats(len(times), queries, len(days), negatives, diversity, spacing)


def surfaced_stats(recalls: Iterable[Recall], verb: str) -> dict[int, RecallStats]:
    """Return the statistics of those *recalls* that *verb* asked, by document."""
    times: dict[int, list[Surfacing]] = {}
    for recall in recalls:
        for hit in recall.hits if recall.verb == verb else ():
            surfacing = Surfacing(recall.asked_at, recall.query_hash, hit.was_referenced)
            times.setdefault(hit.document_id, []).append(surfacing)
    return {number: recall_stats(surfacings) for number, surfacings in times.items()}


def is_pin_candidate(stats: RecallStats) -> bool:
    """Whether a document was surfaced for many different prompts, spread over time."""
    is_spread = stats.diversity >= PIN_DIVERSITY and stats.spacing >= PIN_SPACING
    return is_spread and stats.recalls >= PIN_RECALLS


def is_snooze_candidate(stats: RecallStats) -> bool:
    """Whether a document was surfaced five times or more, and unused in more than 80 % of them."""
    return stats.recalls >= SNOOZE_RECALLS and stats.negatives > SNOOZE_IGNORED * stats.recalls
