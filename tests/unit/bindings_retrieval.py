"""How the vectors of the retrieval policies call this implementation."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any
from zoneinfo import ZoneInfo

from clawmem.domain.graph.traversal import cooccurrence_score
from clawmem.domain.maintenance import lease
from clawmem.domain.retrieval.calibrated import parts
from clawmem.domain.retrieval.composite import Signals, computed_confidence, published, recency
from clawmem.domain.retrieval.expansion import is_strong_signal, read_expansion
from clawmem.domain.retrieval.fusion import blend, diversify, lexical_score, min_max, rrf
from clawmem.domain.retrieval.grains import DOCUMENT_WEIGHTS, LINE_WEIGHTS, refine, with_variants
from clawmem.domain.retrieval.intent import DECIDED, asks_for_recent, classify_intent, has_recency_intent
from clawmem.domain.retrieval.late_interaction import line_coverage
from clawmem.domain.retrieval.planning import is_simple, plan, read_clauses, route
from clawmem.domain.retrieval.question import newest_question
from clawmem.domain.retrieval.relevance import (
    Evidence,
    ResultPlace,
    answer_probability,
    is_task,
    likelihood_of,
    place_probability,
    results_to_show,
)
from clawmem.domain.retrieval.snippets import snippet
from clawmem.domain.retrieval.versions import Statement, decision_subjects, subject_name, wanted_version
from clawmem.domain.text.dates import temporal_range
from clawmem.domain.text.parts import choose_chunk, intent_terms
from clawmem.ports.records import FragmentKey
from clawmem.ports.storage import Lease

_NOT_IN_JSON = {"inf": float("inf"), "-inf": float("-inf"), "nan": float("nan")}


def _numbers(value: Any) -> Any:
    """Put the numbers back that JSON cannot write; only for inputs without free text."""
    if isinstance(value, dict):
        return {key: _numbers(item) for key, item in value.items()}
    return _NOT_IN_JSON.get(value, value) if isinstance(value, str) else value


def _rrf(given: dict[str, Any]) -> list[list[Any]]:
    return [list(pair) for pair in rrf(**_numbers(given))]


def _confidence(given: dict[str, Any]) -> dict[str, float]:
    numbers = _numbers(given)
    stored = numbers.pop("stored")
    signals = Signals(search=0.0, **numbers)
    return {
        "computed": computed_confidence(signals),
        "blended": computed_confidence(signals._replace(stored_confidence=stored)),
    }


def _scored(given: dict[str, Any]) -> dict[str, Any]:
    return {**given, "signals": Signals(**_numbers(given["signals"]))}


def _calibrated(given: dict[str, Any]) -> dict[str, Any]:
    arguments = _scored(_numbers(given))
    terms = parts(**arguments)
    return {"score": min(1.0, max(0.0, math.fsum(terms.values()))), "parts": terms}


def _mmr(given: dict[str, Any]) -> list[str]:
    texts = given["texts"]
    distinct, copies = diversify(given["ranked"], texts.__getitem__, threshold=given.get("threshold", 0.6))
    return distinct + copies


def _snippet(given: dict[str, Any]) -> dict[str, Any]:
    places = {name: tuple(given[name]) for name in ("found", "within") if name in given}
    shown = snippet(**{**given, **places})
    return {"text": shown.text, "start_line": shown.start_line, "line_count": shown.line_count}


def _lease(given: dict[str, Any]) -> dict[str, Any]:
    now_ms, current = given["now_ms"], given["current"] and Lease("index", **given["current"])
    held = Lease("index", **given["held"], expires_ms=0)
    return {
        "may_acquire": lease.may_acquire(current, now_ms),
        "may_renew": lease.may_renew(held, current),
        "may_act": lease.may_act(held, current, now_ms),
    }


def _decomposition(given: dict[str, Any]) -> list[list[Any]]:
    clauses = read_clauses(**given)
    return [[clause.type.value, clause.query, clause.priority, 6 - clause.priority] for clause in clauses]


def _relevance(given: dict[str, Any]) -> dict[str, float]:
    anything = answer_probability(Evidence(**given["evidence"]), given.get("fingerprint"))
    this_one = place_probability(ResultPlace(**given["place"]))
    return {"answered": anything, "placed": this_one, "confidence": anything * this_one}


_USUAL: dict[str, Mapping[str, float]] = {"document": DOCUMENT_WEIGHTS, "line": LINE_WEIGHTS}


def _covered(given: dict[str, Any]) -> list[list[Any]]:
    keys = [FragmentKey(*key) for key in given["keys"]]
    rows = {FragmentKey(*key): row for key, row in given["rows"]}
    return [
        [list(key), value] for key, value in line_coverage(**{**given, "keys": keys, "rows": rows}).items()
    ]


def _weights(given: dict[str, Any]) -> Mapping[str, float]:
    return _USUAL[given["unit"]] if "unit" in given else given["weights"]


def _refine(given: dict[str, Any]) -> list[list[Any]]:
    closer = {
        name: {item: float(score) for item, score in seen} for name, seen in given["closer"].items()
    }  # a score may be "nan"
    found: dict[int, Mapping[str, float]] = dict(given["found"])
    refined = refine(found, closer, given["took_part"], _weights(given))
    return [[item, relevance, parts] for item, (relevance, parts) in refined.items()]


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
        "is_decided": found.confidence >= DECIDED,
    }


def _planning(given: dict[str, Any]) -> dict[str, Any]:
    clauses = [[clause.type.value, clause.query, clause.priority] for clause in plan(**given)]
    return {"simple": is_simple(**given), "clauses": clauses}


def _expansion(given: dict[str, Any]) -> list[list[str]]:
    return [[variant.kind.value, variant.text] for variant in read_expansion(**given)]


def _chunk_choice(given: dict[str, Any]) -> dict[str, Any]:
    body = "".join(map(_run, given.pop("runs")))
    around = given.pop("around", None)
    chunk = choose_chunk(body, around=tuple(around) if around else None, **given)
    return {"start": body.index(chunk), "length": len(chunk)}


def _run(run: int | list[Any]) -> str:
    """Part of a body of thousands of characters: a text so many times, or so many numbers of five digits."""
    if isinstance(run, int):
        return "".join(f"{number:05d}" for number in range(run))
    text, times = run
    return str(text) * times


BINDINGS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "lexical_score": lambda given: lexical_score(**_numbers(given)),
    "rrf": _rrf,
    "min_max": lambda given: min_max(**_numbers(given)),
    "recency": lambda given: recency(**_numbers(given)),
    "confidence": _confidence,
    "published": lambda given: published(**_scored(given)),
    "calibrated": _calibrated,
    "recency_intent": lambda given: has_recency_intent(**given),
    "mmr": _mmr,
    "snippet": _snippet,
    "is_task": lambda given: is_task(given["question"]),
    "same_decision": lambda given: (
        not decision_subjects(given["one"]).isdisjoint(decision_subjects(given["other"]))
    ),
    "same_version": lambda given: subject_name(given["one"]) == subject_name(given["other"]) is not None,
    "wanted_version": lambda given: wanted_version(given["question"]).name.lower(),
    "states_change": lambda given: Statement(given["older"], given["topic"]).is_changed_by(given["body"]),
    "lease": _lease,
    "decomposition": _decomposition,
    "cooccurrence": lambda given: cooccurrence_score(**given),
    "relevance": _relevance,
    "likelihood": lambda given: str(likelihood_of(**given)),
    "worth_showing": lambda given: results_to_show(**given),
    "time_intent": lambda given: asks_for_recent(**given),
    "line_coverage": _covered,
    "variant_weights": lambda given: with_variants(_weights(given), given["names"]),
    "refine": _refine,
    "temporal": _temporal,
    "newest_question": _newest,
    "intent": _intent,
    "routing": lambda given: route(**given).value,
    "planning": _planning,
    "expansion": _expansion,
    "strong_signal": lambda given: is_strong_signal(**given),
    "chunk_choice": lambda given: _chunk_choice(dict(given)),
    "intent_terms": lambda given: list(intent_terms(**given)),
    "blend": lambda given: blend(**given),
}
