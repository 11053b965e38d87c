"""How the vectors of what is captured and of the texts at the start of a session call this implementation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bindings_maintenance import policy_of

from clawmem.contracts.samples import document
from clawmem.domain.briefing.blocks import fact_of, is_stale, names_file, packed
from clawmem.domain.capture.contradiction import Verdict, is_invalid, lowered, verdict
from clawmem.domain.capture.cues import Kind
from clawmem.domain.capture.handoff import next_steps, summary_part
from clawmem.domain.capture.notes import confidence_of, merge_window_ms
from clawmem.domain.documents.times import DAY_MS, iso_utc
from clawmem.domain.lifecycle.policy import is_due
from clawmem.domain.surfacing.use import is_referenced
from clawmem.ports.records import InactiveReason


def _lowered_confidence(given: dict[str, Any]) -> dict[str, Any]:
    confidence = lowered(given["confidence"], Verdict(given["verdict"]))
    return {
        "confidence": confidence,
        "invalid": is_invalid(given.get("content_type", "decision"), confidence),
    }


def _captured_kind(given: dict[str, Any]) -> Any:
    kind = Kind(given["kind"])
    confidence = confidence_of(kind, by_model=given.get("by_model", False))
    return [kind, confidence, merge_window_ms(kind)]


def _is_referenced(given: dict[str, Any]) -> bool:
    named = document(given["path"], collection=given["collection"], title=given["title"])
    return is_referenced(named, given["answer"])


NOW_MS = 1_700_000_000_000


def _archivable(given: dict[str, Any]) -> Any:
    policy = policy_of(given["policy"])
    found = document(
        collection=given["collection"],
        content_type=given["content_type"],
        indexed_at=_ago(given["indexed_days_ago"]),
        last_accessed_at=_ago(given["accessed_days_ago"]) if "accessed_days_ago" in given else None,
        pinned=given.get("pinned", False),
        snoozed_until=_ago(-given["snoozed_for_days"]) if "snoozed_for_days" in given else None,
        inactive=InactiveReason(given["inactive"]) if "inactive" in given else None,
    )
    return policy is not None and is_due(found, policy, NOW_MS)


def _ago(days: float) -> str:
    return iso_utc(NOW_MS - int(days * DAY_MS))


BINDINGS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "lowered_confidence": _lowered_confidence,
    "captured_kind": _captured_kind,
    "is_referenced": _is_referenced,
    "archivable": _archivable,
    "profile_facts": lambda given: fact_of(given["title"], given["body"]),
    "is_stale": lambda given: is_stale(**given),
    "names_file": lambda given: names_file(given["line"], given["path"]),
    "next_steps": lambda given: list(next_steps(given["text"])),
    "summary_part": lambda given: summary_part(given["report"]),
    "verdict": lambda given: verdict(**given).value,
    "packed": lambda given: packed(**given),
}
