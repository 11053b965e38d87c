"""How a question becomes the clauses that are looked up for it."""

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

DEADLINE_S = 8.0  # for a question of several topics, and for both of its attempts together

NO_USE = "the model's answer could not be used"


class Plan(NamedTuple):
    """Clauses, most important first, and why they are not the model's where they should be (empty when not)."""

    clauses: tuple[Clause, ...]
    degraded: str = ""


Planner = Callable[[str], Plan]


def by_rules(query: str) -> Plan:
    """The plan that the words of a question give."""
    return Plan(plan(query))


def planner(vault: Vault, generator: Generator | None) -> Planner:
    """The planner that can be had: a model that is told what the last session was about, or the rules alone."""
    return by_rules if generator is None else ByModel(generator, lambda: _last_session(vault))


class ByModel:
    """
    Has a model take apart what joins several questions; a simple question is never given to it.

    When it is out of reach, late, or answers nothing of use, the plan is the one of the rules, which looks
    up a question that they cannot take apart whole, by its words first and by its meaning second.
    """

    def __init__(
        self, generator: Generator, context: Callable[[], str] = str, deadline_s: float = DEADLINE_S
    ) -> None:
        """
        Args:
            context: What the session is about, asked for with each question that goes to the model.
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
