"""How the vectors of what a question asks for, and when, call this implementation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from zoneinfo import ZoneInfo

from clawmem.domain.retrieval.intent import classify_intent
from clawmem.domain.retrieval.newest import newest_question
from clawmem.domain.retrieval.planning import is_simple, plan
from clawmem.domain.retrieval.routing import route
from clawmem.domain.retrieval.temporal import temporal_range


def _temporal(given: dict[str, Any]) -> dict[str, Any] | None:
    given = dict(given)
    zone = ZoneInfo(given.pop("zone", "UTC"))
    read = temporal_range(**given, zone=zone)
    if read is None:
        return None
    return {
        "authored_from": read.authored_from,
        "authored_until": read.authored_until,
        "span": [read.start, read.end],
    }


def _newest(given: dict[str, Any]) -> dict[str, Any] | None:
    asked = newest_question(**given)
    return asked and {"kind": asked.kind, "noun": asked.noun, "topic": list(asked.topic)}


def _intent(given: dict[str, Any]) -> dict[str, Any]:
    found = classify_intent(**given)
    return {
        "intent": found.intent.value,
        "confidence": found.confidence,
        "is_decided": found.is_decided,
        "scores": {intent.value: score for intent, score in found.scores.items()},
    }


def _planning(given: dict[str, Any]) -> dict[str, Any]:
    clauses = [[clause.kind.value, clause.query, clause.priority] for clause in plan(**given)]
    return {"simple": is_simple(**given), "clauses": clauses}


BINDINGS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "temporal": _temporal,
    "newest_question": _newest,
    "intent": _intent,
    "routing": lambda given: route(**given).value,
    "planning": _planning,
}
