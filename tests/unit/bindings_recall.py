"""How the vectors of plans made by models, and of what occurs together, call this implementation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clawmem.domain.knowledge.cooccurrence import cooccurrence_score
from clawmem.domain.retrieval.decomposition import read_clauses


def _decomposition(given: dict[str, Any]) -> list[list[Any]]:
    clauses = read_clauses(**given)
    return [[clause.kind.value, clause.query, clause.priority, clause.weight] for clause in clauses]


def _cooccurrence(given: dict[str, Any]) -> Any:
    try:
        return cooccurrence_score(**given)
    except ValueError:
        return {"error": True}


BINDINGS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "decomposition": _decomposition,
    "cooccurrence": _cooccurrence,
}
