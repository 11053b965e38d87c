"""How the vectors of the relevance model call this implementation."""

from __future__ import annotations

from typing import Any

from clawmem.domain.retrieval.relevance import Evidence, answered, placed


def _relevance(given: dict[str, Any]) -> dict[str, float]:
    anything = answered(Evidence(**given["evidence"]), given.get("fingerprint"))
    this_one = placed(given["relevance"], given["rank"], given["unit"])
    return {"answered": anything, "placed": this_one, "confidence": anything * this_one}


BINDINGS = {"relevance": _relevance}
