"""How the vectors of the retrieval policies call this implementation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clawmem.domain.maintenance import lease
from clawmem.domain.retrieval.bm25 import lexical_score
from clawmem.domain.retrieval.calibrated import calibrated, parts
from clawmem.domain.retrieval.composite import Signals, published
from clawmem.domain.retrieval.confidence import blend_stored, computed_confidence
from clawmem.domain.retrieval.diversity import diversify
from clawmem.domain.retrieval.fusion import min_max, rrf
from clawmem.domain.retrieval.intent import has_recency_intent
from clawmem.domain.retrieval.recency import recency
from clawmem.domain.retrieval.snippets import snippet

_NOT_IN_JSON = {"inf": float("inf"), "-inf": float("-inf"), "nan": float("nan")}


def _numbers(value: Any) -> Any:
    """Put the numbers back that JSON cannot write; only for inputs without free text."""
    if isinstance(value, dict):
        return {key: _numbers(item) for key, item in value.items()}
    return _NOT_IN_JSON.get(value, value) if isinstance(value, str) else value


def _refusable(answer: Callable[[dict[str, Any]], Any]) -> Callable[[dict[str, Any]], Any]:
    def refused_or_answered(given: dict[str, Any]) -> Any:
        try:
            return answer(given)
        except ValueError:
            return {"error": True}

    return refused_or_answered


def _rrf(given: dict[str, Any]) -> list[list[Any]]:
    return [list(pair) for pair in rrf(**_numbers(given))]


def _confidence(given: dict[str, Any]) -> dict[str, float]:
    numbers = _numbers(given)
    stored = numbers.pop("stored")
    computed = computed_confidence(**numbers)
    return {"computed": computed, "blended": blend_stored(computed, stored)}


def _scored(given: dict[str, Any]) -> dict[str, Any]:
    return {**given, "signals": Signals(**_numbers(given["signals"]))}


def _calibrated(given: dict[str, Any]) -> dict[str, Any]:
    arguments = _scored(_numbers(given))
    return {"score": calibrated(**arguments), "parts": parts(**arguments)}


def _mmr(given: dict[str, Any]) -> list[str]:
    texts = given["texts"]
    return diversify(given["ranked"], texts.__getitem__, threshold=given.get("threshold", 0.6))


def _snippet(given: dict[str, Any]) -> dict[str, Any]:
    around = given.get("around")
    shown = snippet(**{**given, "around": tuple(around) if around else None})
    return {
        "text": shown.text,
        "start_line": shown.start_line,
        "line_count": shown.line_count,
        "header": shown.header,
    }


def _lease(given: dict[str, Any]) -> dict[str, Any]:
    until, now = given["expires_ms"], given["now_ms"]
    held, current = given["held_token"], given["current_token"]
    return {
        "live": lease.is_live(until or 0, now),
        "may_acquire": lease.may_acquire(until, now),
        "token": lease.token_of(bytes.fromhex(given["chance_hex"])),
        "may_renew": lease.may_renew(held, current),
        "may_act": lease.may_act(held, current, until or 0, now),
    }


BINDINGS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "lexical_score": lambda given: lexical_score(**_numbers(given)),
    "rrf": _refusable(_rrf),
    "min_max": _refusable(lambda given: min_max(**_numbers(given))),
    "recency": lambda given: recency(**_numbers(given)),
    "confidence": _confidence,
    "published": lambda given: published(**_scored(given)),
    "calibrated": _calibrated,
    "recency_intent": lambda given: has_recency_intent(**given),
    "mmr": _refusable(_mmr),
    "snippet": _refusable(_snippet),
    "lease": _refusable(_lease),
}
