"""How the vectors of late interaction and of a second look at a list call this implementation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from clawmem.domain.retrieval.answer_kind import asks_for_number, holds_number
from clawmem.domain.retrieval.grains import DOCUMENT_WEIGHTS, LINE_WEIGHTS, refine, with_variants
from clawmem.domain.retrieval.late_interaction import coverage, line_coverage
from clawmem.ports.records import FragmentKey

_USUAL: dict[str, Mapping[str, float]] = {"document": DOCUMENT_WEIGHTS, "line": LINE_WEIGHTS}


def _coverage(given: dict[str, Any]) -> Any:
    try:
        return coverage(**given)
    except ValueError:
        return {"error": True}


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


BINDINGS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "coverage": _coverage,
    "line_coverage": _covered,
    "number_questions": lambda given: asks_for_number(**given),
    "number_answers": lambda given: holds_number(**given),
    "variant_weights": lambda given: with_variants(_weights(given), given["names"]),
    "refine": _refine,
}
