"""Model calls about documents: answers are cached, limited per day, and recorded in the ledger."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

from clawmem.domain.documents.times import iso_utc
from clawmem.domain.knowledge.llm_answer import ModelTask, fitted, json_answer, read_json
from clawmem.domain.text.words import token_count
from clawmem.ports.clock import Clock
from clawmem.ports.errors import ModelAnswerInvalid, ModelError, ModelUnavailable, VaultError
from clawmem.ports.models import Cost, CostLedger, GeneratedText, Generator, ModelAnswers

CALLS_A_DAY = 500
PROBE = "Answer with the word yes."


class DailyLimitReached(Exception):
    """The daily limit of model calls is reached."""


@dataclass(frozen=True, slots=True)
class Ask:
    """Asks a model for JSON of a given shape. To be called outside `Transactions.writing`: an answer takes seconds."""

    answers: ModelAnswers
    ledger: CostLedger
    generator: Generator
    clock: Clock
    calls_a_day: int = CALLS_A_DAY

    @property
    def model(self) -> str:
        """The fingerprint of the model. Raises `ModelUnavailable`."""
        return self.generator.fingerprint

    def __call__(self, task: ModelTask, prompt: str) -> Any | None:
        """
        Return the cached or a new answer; ``None`` if the model failed twice to return JSON of that shape.

        Raises:
            DailyLimitReached: the daily limit is reached; nothing was asked.
            ModelAnswerInvalid: the model fails on this prompt alone. ModelUnavailable: it answers nothing now.
        """
        cached = self.answers.get(self.model, task.purpose, prompt)
        value = None if cached is None else read_json(cached, task.schema)
        if value is not None and not fitted(value, task.schema)[1]:
            return value
        value = json_answer(partial(self._answer_or_probe, task), prompt, task.schema)
        if value is not None:
            with suppress(VaultError):  # an answer that is not cached can be asked for again
                now = iso_utc(self.clock.now_ms())
                self.answers.keep(self.model, task.purpose, {prompt: json.dumps(value)}, at=now)
        return value

    def _answer_or_probe(self, task: ModelTask, prompt: str) -> str:
        """Return the model's answer; where it gives none, ask whether it answers anything, or fails on *prompt* alone."""
        try:
            return self._answer(task, prompt)
        except ModelError as error:
            try:
                self._answer(task, PROBE)
            except (ModelError, DailyLimitReached):
                raise ModelUnavailable(self.model, error.reason, remedy=error.remedy) from error
            raise ModelAnswerInvalid(self.model, error.reason) from error

    def _answer(self, task: ModelTask, prompt: str) -> str:
        """Return the model's answer, and charge it to the ledger, also if it fails."""
        today = iso_utc(self.clock.now_ms())[:10]
        if sum(cost.calls for cost in self.ledger.totals(today)) >= self.calls_a_day:
            calls = f"the limit of {self.calls_a_day} calls a day is reached"
            raise DailyLimitReached(f"{calls}; the next run tomorrow continues")
        began, answer = perf_counter(), None
        most, temperature, schema = task.max_tokens, task.temperature, task.schema
        try:
            answer = self.generator.generate(
                prompt, timeout_s=60.0, max_tokens=most, temperature=temperature, schema=schema
            )
        finally:
            counted = answer if isinstance(answer, GeneratedText) else GeneratedText("")
            read, written = counted.prompt_tokens, counted.answer_tokens
            cost = Cost(
                today,
                self.model,
                task.purpose,
                failed=int(answer is None),
                prompt_tokens=token_count(prompt) if read is None else read,
                answer_tokens=token_count(answer or "") if written is None else written,
                took_ms=round((perf_counter() - began) * 1000),
            )
            self.ledger.charge(cost)
        return answer


def ask_of(
    answers: ModelAnswers,
    ledger: CostLedger,
    generator: Generator | None,
    clock: Clock,
    *,
    calls_a_day: int = CALLS_A_DAY,
) -> Ask | None:
    """Return an `Ask` of *generator*; ``None`` without one."""
    return Ask(answers, ledger, generator, clock, calls_a_day=calls_a_day) if generator else None
