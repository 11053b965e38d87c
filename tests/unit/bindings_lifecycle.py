"""How the vectors of what becomes of documents call this implementation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clawmem.domain.briefing.current import DAY_MS
from clawmem.domain.capture.diary import diary_path
from clawmem.domain.documents.times import iso_utc, parse_iso
from clawmem.domain.lifecycle.policy import is_due_for_good, read_policy
from clawmem.domain.lifecycle.recall import Surfacing, is_pin_candidate, is_snooze_candidate, recall_stats
from clawmem.ports.errors import ConfigError

NOW_MS = 1_700_000_000_000


def _purgeable(given: dict[str, Any]) -> Any:
    try:
        policy = read_policy(given["policy"])
    except ConfigError:
        return {"error": True}
    days = given.get("archived_days_ago")
    archived = "" if days is None else iso_utc(NOW_MS - int(days * DAY_MS))
    return policy is not None and is_due_for_good(archived, policy, NOW_MS)


def _diary_path(given: dict[str, Any]) -> str:
    at_ms = parse_iso(given["at"])
    assert at_ms is not None
    return diary_path(at_ms, given["topic"])


def _recall_stats(given: dict[str, Any]) -> dict[str, Any]:
    times = [Surfacing(iso_utc(NOW_MS + day * DAY_MS), query, used) for day, query, used in given["times"]]
    stats = recall_stats(1, times)
    proposed = "pin" if is_pin_candidate(stats) else "snooze" if is_snooze_candidate(stats) else None
    names = ("recalls", "queries", "days", "negatives", "diversity", "spacing")
    return {**{name: getattr(stats, name) for name in names}, "proposed": proposed}


BINDINGS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "diary_path": _diary_path,
    "purgeable": _purgeable,
    "recall_stats": _recall_stats,
}
