"""How the vectors of the relevance model call this implementation."""

from __future__ import annotations

from typing import Any

from clawmem.domain.retrieval.relevance import (
    Evidence,
    ResultPlace,
    answer_probability,
    likelihood_of,
    place_probability,
    results_to_show,
)


def _relevance(given: dict[str, Any]) -> dict[str, float]:
    anything = answer_probability(Evidence(**given["evidence"]), given.get("fingerprint"))
    this_one = place_probability(ResultPlace(**given["place"]))
    return {"answered": anything, "placed": this_one, "confidence": anything * this_one}


BINDINGS = {
    "relevance": _relevance,
    "likelihood": lambda given: str(likelihood_of(**given)),
    "worth_showing": lambda given: results_to_show(**given),
}
