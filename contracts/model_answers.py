from __future__ import annotations

import pytest

from clawmem.contracts.base import Contract
from clawmem.contracts.samples import DAYS
from clawmem.ports.errors import InvalidInput
from clawmem.ports.models import ModelAnswers

MODEL = "llama-server:qwen3@http://localhost:8089"
MONDAY, TUESDAY, WEDNESDAY = DAYS


class ModelAnswersContract(Contract):
    """Cache of model answers. Supply ``answers``: an EMPTY ``ModelAnswers``."""

    @pytest.mark.parametrize(
        "answer", ["", "lex: hive\nvec: bees", "0.1", "nul \x00 within", "蜂蜜 🐝 Übergröße"]
    )
    def test_an_answer_comes_back_as_it_was(self, answers: ModelAnswers, answer: str) -> None:
        """An answer is returned character for character."""
        answers.keep(MODEL, "expansion", {"hive": answer}, at=MONDAY)

        assert answers.get(MODEL, "expansion", "hive") == answer

    @pytest.mark.parametrize(
        "other",
        [
            ("another model", "expansion", "hive"),
            (MODEL, "rerank", "hive"),
            (MODEL, "expansion", "Hive"),
            (MODEL, "expansion", "hive "),
            (MODEL, "expansion", ""),
            (f"{MODEL}expansion", "", "hive"),
            (MODEL, "expansionhive", ""),
        ],
    )
    def test_each_question_has_its_own(self, answers: ModelAnswers, other: tuple[str, str, str]) -> None:
        """A different model, purpose or question has no answer yet, however small the difference."""
        answers.keep(MODEL, "expansion", {"hive": "bees"}, at=MONDAY)

        assert answers.get(*other) is None

    def test_the_last_answer_counts(self, answers: ModelAnswers) -> None:
        """A second answer replaces the first one and its time."""
        answers.keep(MODEL, "expansion", {"hive": "bees"}, at=MONDAY)
        answers.keep(MODEL, "expansion", {"hive": "honey"}, at=WEDNESDAY)

        assert answers.get(MODEL, "expansion", "hive") == "honey"
        assert answers.counts() == {"expansion": 1}
        assert answers.trim(WEDNESDAY) == 0

    def test_all_or_none(self, answers: ModelAnswers) -> None:
        """If one answer cannot be stored, no answer of the same call is."""
        with pytest.raises(InvalidInput):
            answers.keep(MODEL, "rerank", {"a": "0.1", "b": "half \ud83d a bee"}, at=MONDAY)

        assert answers.counts() == {}

    def test_counts_by_purpose(self, answers: ModelAnswers) -> None:
        """Answers are counted by purpose, across models."""
        answers.keep(MODEL, "expansion", {"hive": "bees"}, at=MONDAY)
        answers.keep("another", "expansion", {"hive": "bees"}, at=MONDAY)
        answers.keep(MODEL, "intent", {"hive": "WHAT"}, at=MONDAY)

        assert answers.counts() == {"expansion": 2, "intent": 1}

    def test_trim_a_little(self, answers: ModelAnswers) -> None:
        """With `at_most` only that many answers are deleted, oldest first, until no old ones are left."""
        for day in (WEDNESDAY, MONDAY, TUESDAY):
            answers.keep(MODEL, "rerank", {day: "0.5"}, at=day)

        assert answers.trim(WEDNESDAY, at_most=1) == 1
        assert [answers.get(MODEL, "rerank", day) for day in (MONDAY, TUESDAY)] == [None, "0.5"]
        assert [answers.trim(WEDNESDAY, at_most=0), answers.trim(WEDNESDAY, at_most=5)] == [0, 1]
        assert answers.trim(WEDNESDAY, at_most=5) == 0
        assert answers.counts() == {"rerank": 1}
