"""Planning: splitting a question into clauses."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import NamedTuple

from clawmem.domain.knowledge.llm_answer import json_answer
from clawmem.domain.retrieval.decomposition import (
    MAX_TOKENS,
    READABLE,
    SCHEMA,
    TEMPERATURE,
    decomposition_prompt,
    read_clauses,
)
from clawmem.domain.retrieval.planning import Clause, is_simple, plan
from clawmem.ports.errors import ClawmemError
from clawmem.ports.generator import Generator
from clawmem.ports.vault import Vault

DEADLINE_S = 8.0  # for planning by a model, including a second attempt

NO_USE = "the model's answer could not be used"


class Plan(NamedTuple):
    """Clauses, most important first, and why the model's plan is missing (empty if it is not)."""

    clauses: tuple[Clause, ...]
    degraded: str = ""


Planner = Callable[[str], Plan]


def by_rules(query: str) -> Plan:
    """Return the plan derived from the words of a question."""
    return Plan(plan(query))


def planner(vault: Vault, generator: Generator | None) -> Planner:
    """Return a planner with a model that knows the last session, or by rules without a *generator*."""
    return by_rules if generator is None else ByModel(generator, lambda: _last_session(vault))


class ByModel:
    """
    Planner that has a model split complex questions; simple ones are planned by rules.

    If the model is unavailable, late, or gives no usable answer, the plan is by rules. A question that rules cannot
    split is searched as a whole, first by words and then by vectors.
    """

    def __init__(
        self, generator: Generator, context: Callable[[], str] = str, deadline_s: float = DEADLINE_S
    ) -> None:
        """
        Args:
            context: Returns the subject of the session; called for each question that goes to the model.
        """
        self._generator = generator
        self._context = context
        self._deadline_s = deadline_s

    def __call__(self, query: str) -> Plan:
        if is_simple(query):
            return by_rules(query)
        try:
            clauses = self._decomposed(query)
        except ClawmemError as error:
            return Plan(plan(query), str(error))
        return Plan(clauses) if clauses else Plan(plan(query), NO_USE)

    def _decomposed(self, query: str) -> tuple[Clause, ...]:
        until = perf_counter() + self._deadline_s

        def ask(prompt: str) -> str:
            return self._generator.generate(
                prompt,
                timeout_s=until - perf_counter(),
                max_tokens=MAX_TOKENS,
                temperature=TEMPERATURE,
                schema=SCHEMA,
            )

        return read_clauses(json_answer(ask, decomposition_prompt(query, self._context()), READABLE))


def _last_session(vault: Vault) -> str:
    return "".join(session.summary for session in vault.sessions.recent(1))
