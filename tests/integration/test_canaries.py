"""The canaries: what a good model passes, and every way of going wrong that they are there for."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import pytest

from clawmem.adapters.memory.models import OverlapReranker, ScriptedGenerator
from clawmem.app.services.maintenance.doctor import generator_fault, reranker_fault
from clawmem.domain.maintenance.canary import GOLDEN

RIGHT = {golden.right for golden in GOLDEN}


class Scoring(OverlapReranker):
    """A reranker whose scores are made by a function of the documents."""

    def __init__(self, scores: Callable[[Sequence[str]], list[float]]) -> None:
        self._made = scores

    def rerank(self, query: str, documents: Sequence[str], *, timeout_s: float) -> list[float]:
        return self._made(documents)


class TestReranker:
    @pytest.mark.parametrize(
        ("scores", "said"),
        [
            (lambda documents: [0.7 for _ in documents], "6 of 6 questions"),
            (lambda documents: [float(text not in RIGHT) for text in documents], "6 of 6 questions"),
            (lambda documents: [1 / (1 + place) for place, _ in enumerate(documents)], "4 of 6 questions"),
            (lambda documents: [place / 10 for place, _ in enumerate(documents)], "5 of 6 questions"),
            (lambda documents: [math.nan for _ in documents], "not from 0 to 1"),
            (lambda documents: [7.0 if text in RIGHT else 1.0 for text in documents], "not from 0 to 1"),
            (lambda documents: [1.0], "a score is missing"),
        ],
        ids=["constant", "inverted", "first place", "last place", "NaN", "out of range", "too few"],
    )
    def test_a_degenerate_one(self, scores: Callable[[Sequence[str]], list[float]], said: str) -> None:
        """Scores that say nothing, or the opposite, are found out, each by its own name."""
        assert said in (reranker_fault(Scoring(scores)) or "")


class TestGenerator:
    @pytest.mark.parametrize("answer", ['{"answer": "yes"}', 'Sure!\n```json\n{"answer": "no"}\n```'])
    def test_json_of_the_shape_passes(self, answer: str) -> None:
        """One object with an allowed value is enough; what is right is not asked for."""
        assert generator_fault(ScriptedGenerator(lambda prompt: answer)) is None

    @pytest.mark.parametrize("answer", ["", "yes", "{}", '{"answer": "maybe"}', '["yes"]', "<html>"])
    def test_anything_else_does_not(self, answer: str) -> None:
        """Prose, another shape and another value are told after the second try."""
        asked: list[str] = []

        def script(prompt: str) -> str:
            asked.append(prompt)
            return answer

        assert "something else, twice" in (generator_fault(ScriptedGenerator(script)) or "")
        assert len(asked) == 2
