from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from clawmem.ports.errors import InvalidInput
from clawmem.ports.model_answers import answer_key


class _StoredAnswer(NamedTuple):
    purpose: str
    answer: str
    at: str


class MemoryModelAnswers:
    """Reference ``ModelAnswers`` over a dictionary."""

    def __init__(self) -> None:
        self._kept: dict[bytes, _StoredAnswer] = {}

    def get(self, model: str, purpose: str, question: str) -> str | None:
        found = self._kept.get(answer_key(model, purpose, question))
        return None if found is None else found.answer

    def keep(self, model: str, purpose: str, question: str, answer: str, *, at: str) -> None:
        self.keep_all(model, purpose, {question: answer}, at=at)

    def keep_all(self, model: str, purpose: str, answers: Mapping[str, str], *, at: str) -> None:
        for answer in answers.values():
            _refuse_halves(answer)
        for question, answer in answers.items():
            self._kept[answer_key(model, purpose, question)] = _StoredAnswer(purpose, answer, at)

    def trim(self, before: str, *, at_most: int | None = None) -> int:
        old = [key for key, kept in self._kept.items() if kept.at < before]
        gone = sorted(old, key=lambda key: self._kept[key].at)[:at_most]
        for key in gone:
            del self._kept[key]
        return len(gone)

    def counts(self) -> dict[str, int]:
        return dict(Counter(kept.purpose for kept in self._kept.values()))


def _refuse_halves(answer: str) -> None:
    try:
        answer.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(
            "INVALID_INPUT", "The answer holds half a character. Give it as valid Unicode."
        ) from error
