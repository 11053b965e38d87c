"""What the times at which a document was surfaced say of it: whether to keep it at hand, or to let it rest."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import NamedTuple

from clawmem.domain.briefing.current import DAY_MS
from clawmem.domain.documents.times import parse_iso
from clawmem.ports.captures import RecallStats

ENOUGH = 5  # different questions or days, after which more of them say no more
A_WEEK = 7.0
_DAY_CHARS = 10

PIN_DIVERSITY, PIN_SPACING, PIN_RECALLS = 0.4, 0.5, 3
SNOOZE_RECALLS, SNOOZE_IGNORED = 5, 0.8


class Surfacing(NamedTuple):
    """One time that a document was put beside a prompt: when, beside which, and whether it was of use."""

    at: str
    query_hash: str
    was_referenced: bool = False


def recall_stats(document_id: int, times: Sequence[Surfacing]) -> RecallStats:
    """What *times*, one or more in any order, come to."""
    days = sorted({one.at[:_DAY_CHARS] for one in times})
    queries = len({one.query_hash for one in times})
    moments = sorted(one.at for one in times)
    return RecallStats(
        document_id,
        len(times),
        queries,
        len(days),
        sum(not one.was_referenced for one in times),
        moments[0],
        moments[-1],
        diversity(queries, len(days)),
        spacing(len(days), _span_days(days)),
    )


def diversity(queries: int, days: int) -> float:
    """From 0 to 1: beside how many different prompts, or on how many days, whichever is more; five are enough."""
    return min(1.0, max(queries, days) / ENOUGH)


def spacing(days: int, span_days: float) -> float:
    """
    From 0 to 1: how spread over time it was surfaced.

    Args:
        days: On how many different ones.
        span_days: From the first of them to the last.
    """
    if days < 2:
        return 0.2 * max(0, days)
    return 0.55 * min(1.0, log(days) / log(ENOUGH)) + 0.45 * min(1.0, span_days / A_WEEK)


def is_pin_candidate(stats: RecallStats) -> bool:
    """Whether many different prompts, spread over time, called for it."""
    is_spread = stats.diversity >= PIN_DIVERSITY and stats.spacing >= PIN_SPACING
    return is_spread and stats.recalls >= PIN_RECALLS


def is_snooze_candidate(stats: RecallStats) -> bool:
    """Whether it was surfaced often, and more than four times of five of no use."""
    return stats.recalls >= SNOOZE_RECALLS and stats.negatives > SNOOZE_IGNORED * stats.recalls


def _span_days(days: Sequence[str]) -> float:
    first, last = parse_iso(days[0]), parse_iso(days[-1])
    return 0.0 if first is None or last is None else (last - first) / DAY_MS
