"""Decomposition of a question into several by a language model: prompt and answer parser."""

from __future__ import annotations

from typing import Any

from clawmem.domain.retrieval.planning import LEAST_IMPORTANT, MAX_CLAUSES, MOST_IMPORTANT, Clause, ClauseKind
from clawmem.ports.generator import JsonSchema

TEMPERATURE = 0.3
MAX_TOKENS = 300
MAX_CONTEXT = 300  # characters of the session's subject

_CLAUSE = {
    "type": "object",
    "properties": {
        "type": {"type": "string", "enum": [kind.value for kind in ClauseKind]},
        "query": {"type": "string"},
        "priority": {"type": "integer"},
        "reasoning": {"type": "string"},
    },
    "required": ["type", "query", "priority"],
}
SCHEMA: JsonSchema = {
    "type": "object",
    "properties": {"clauses": {"type": "array", "items": _CLAUSE}},
    "required": ["clauses"],
}
# Schema for reading: one wrong clause does not affect the others, and many models omit the wrapping object.
READABLE: JsonSchema = {
    "type": ["object", "array"],
    "properties": {"clauses": {"type": "array"}},
    "required": ["clauses"],
}

_PROMPT = """\
Somebody asks a question of their own notes. Take it apart into 2 to 4 short questions that can be looked up
one by one, and say for each how:
- "bm25": by its words; names, identifiers, exact terms
- "vector": by its meaning; described in other words than the notes may use
- "graph": along causes, decisions and people; why something happened, who it has to do with
Priority 1 is the most important, 5 the least. Keep names and terms as they are written. Add nothing that
was not asked.
{context}
Question: {query}

Answer with JSON only:
{{"clauses": [{{"type": "bm25", "query": "...", "priority": 1}}, ...]}}"""


def decomposition_prompt(query: str, context: str = "") -> str:
    """Return the prompt for decomposing *query*; the first 300 characters of *context* name the session's subject."""
    about = context.strip()[:MAX_CONTEXT]
    return _PROMPT.format(query=query, context=f"\nThe session is about: {about}\n" if about else "")


def read_clauses(answer: Any) -> tuple[Clause, ...]:
    """
    Return the clauses of an answer with the schema `READABLE`, most important first, at most four; none if malformed.

    A clause of an unknown type or without words is dropped, and so are duplicates. A priority is clamped to 1..5; one
    that is not an integer counts as 5.
    """
    given = answer.get("clauses") if isinstance(answer, dict) else answer
    read = [_clause(one) for one in given] if isinstance(given, list) else []
    distinct: dict[tuple[ClauseKind, str], Clause] = {}
    for clause in sorted(filter(None, read), key=lambda clause: clause.priority):
        distinct.setdefault((clause.kind, clause.query.casefold()), clause)
    return tuple(distinct.values())[:MAX_CLAUSES]


def _clause(given: Any) -> Clause | None:
    if not isinstance(given, dict):
        return None
    kind, query = given.get("type"), given.get("query")
    if kind not in tuple(ClauseKind) or not isinstance(query, str) or not query.strip():
        return None
    return Clause(ClauseKind(kind), query.strip(), _priority(given.get("priority")))


def _priority(given: Any) -> int:
    if isinstance(given, bool) or not isinstance(given, int):
        return LEAST_IMPORTANT
    return min(max(given, MOST_IMPORTANT), LEAST_IMPORTANT)
