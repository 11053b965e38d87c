"""How the vectors of upkeep call this implementation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from clawmem.app.settings.model import Settings
from clawmem.contracts.samples import document
from clawmem.domain.documents.diary import diary_path
from clawmem.domain.documents.times import DAY_MS, iso_utc, parse_iso
from clawmem.domain.knowledge.llm_answer import fitted
from clawmem.domain.lifecycle.policy import (
    ArchivePolicy,
    Surfacing,
    is_due_for_good,
    is_pin_candidate,
    is_snooze_candidate,
    recall_stats,
)
from clawmem.domain.maintenance import deduction
from clawmem.domain.maintenance.contradiction_gate import contradiction, read_verdict
from clawmem.domain.maintenance.deduction import Candidate
from clawmem.domain.maintenance.merge_gate import ObservationText, decide_merge, replacement_objection
from clawmem.domain.maintenance.patterns import VERDICT, trend
from clawmem.domain.maintenance.schedule import Window, gate, newest_first, stale_first, surprising_first

NOW_MS = 1_700_000_000_000


def _said(given: Any) -> ObservationText:
    return (
        ObservationText(given)
        if isinstance(given, str)
        else ObservationText(given["text"], frozenset(given["entities"]))
    )


def _stands_for(given: dict[str, Any]) -> str:
    return replacement_objection(given["pattern"], [_said(one) for one in given["sources"]])


def _contradictory(given: dict[str, Any]) -> dict[str, Any]:
    found = contradiction(
        given["new"], given["old"], read_verdict(fitted(given.get("model"), VERDICT.schema)[0])
    )
    return {"contradictory": found.contradictory, "confidence": found.confidence}


def _deduction(given: dict[str, Any]) -> dict[str, Any]:
    pool = [Candidate(number, one["text"]) for number, one in enumerate(given["pool"], start=1)]
    drafts = deduction.read_drafts({"deductions": [given["draft"]]})
    answer = fitted(given.get("answer"), deduction.JUDGE.schema)[0]
    outcomes = deduction.judge_draft(drafts[0], pool, answer)
    is_accepted = deduction.ACCEPTED in outcomes
    counters = outcomes if is_accepted else (*outcomes, "rejected")
    return {"kept": is_accepted, "counted": {str(name): 1 for name in counters}}


def _selected(given: dict[str, Any]) -> list[str]:
    documents = [
        document(one["path"], collection=one.get("collection", "notes"))._replace(
            id=number, authored_at=one["authored_at"], last_accessed_at=one.get("accessed_at")
        )
        for number, one in enumerate(given["documents"], start=1)
    ]
    recalled = {
        n: one["recalled_at"] for n, one in enumerate(given["documents"], start=1) if "recalled_at" in one
    }
    if given["by"] == "newest-first":
        return [one.path for one in newest_first(documents, given["limit"])]
    return [one.path for one in stale_first(documents, recalled, given["limit"])]


def _surprisal(given: dict[str, Any]) -> list[int]:
    return surprising_first({int(name): near for name, near in given["distances"].items()}, given["limit"])


def _trend(given: dict[str, Any]) -> str:
    first, last = (NOW_MS - int(given[f"{which}_days_ago"] * DAY_MS) for which in ("first", "last"))
    return trend(first, last, given["times"], NOW_MS).value


def policy_of(section: Any) -> ArchivePolicy | None:
    return Settings(vault=Path("v"), config_file=Path("c"), lifecycle=section).archive_policy


def _purgeable(given: dict[str, Any]) -> Any:
    policy = policy_of(given["policy"])
    days = given.get("archived_days_ago")
    archived = "" if days is None else iso_utc(NOW_MS - int(days * DAY_MS))
    return policy is not None and is_due_for_good(archived, policy, NOW_MS)


def _diary_path(given: dict[str, Any]) -> str:
    at_ms = parse_iso(given["at"])
    assert at_ms is not None
    return diary_path(at_ms, given["topic"])


def _recall_stats(given: dict[str, Any]) -> dict[str, Any]:
    times = [Surfacing(iso_utc(NOW_MS + day * DAY_MS), query, used) for day, query, used in given["times"]]
    stats = recall_stats(times)
    proposed = "pin" if is_pin_candidate(stats) else "snooze" if is_snooze_candidate(stats) else None
    names = ("recalls", "queries", "days", "negatives", "diversity", "spacing")
    return {**{name: getattr(stats, name) for name in names}, "proposed": proposed}


BINDINGS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "contradictory": _contradictory,
    "deduction": _deduction,
    "lane_gate": lambda given: gate(
        Window(given.get("start"), given.get("end")), given["hour"], given["questions"]
    ),
    "lane_selection": _selected,
    "may_merge": lambda given: decide_merge(_said(given["one"]), _said(given["other"]))._asdict(),
    "pattern_stands_for": _stands_for,
    "surprisal": _surprisal,
    "trend": _trend,
    "diary_path": _diary_path,
    "purgeable": _purgeable,
    "recall_stats": _recall_stats,
}
