from __future__ import annotations

import pytest

from clawmem.contracts.base import Contract
from clawmem.contracts.samples import DAYS
from clawmem.ports.errors import InvalidInput
from clawmem.ports.model_answers import ModelAnswers

MODEL = "llama-server:qwen3@http://localhost:8089"
MONDAY, TUESDAY, WEDNESDAY = DAYS


class ModelAnswersContract(Contract):
    """What models said, kept and forgotten. Supply ``answers``: an EMPTY ``ModelAnswers``."""

    @pytest.fixture
    def answers(self) -> ModelAnswers:
        """Supplied by the subclass."""
        raise NotImplementedError("override the `answers` fixture and return an EMPTY ModelAnswers")

    def test_nothing_yet(self, answers: ModelAnswers) -> None:
        """
        Before the first answer there is none, nothing to count and nothing to forget.

        If this fails: look at how an empty table is read.
        """
        assert answers.get(MODEL, "expansion", "hive") is None
        assert answers.counts() == {}
        assert answers.trim(WEDNESDAY) == 0

    @pytest.mark.parametrize(
        "answer", ["", "lex: hive\nvec: bees", "0.1", "nul \x00 within", "蜂蜜 🐝 Übergröße"]
    )
    def test_an_answer_comes_back_as_it_was(self, answers: ModelAnswers, answer: str) -> None:
        """
        What was kept is given back, sign by sign.

        If this fails: it was stripped, ended at a NUL, or an empty answer was taken for none.
        """
        answers.keep(MODEL, "expansion", "hive", answer, at=MONDAY)

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
        """
        Another model, purpose or question, however little it differs, has no answer yet.

        If this fails: the three are put together without a border, or text is folded.
        """
        answers.keep(MODEL, "expansion", "hive", "bees", at=MONDAY)

        assert answers.get(*other) is None

    @pytest.mark.parametrize("odd", ["", "half \ud83d a bee", "nul \x00", "a" * 100_000])
    def test_any_question(self, answers: ModelAnswers, odd: str) -> None:
        """
        A question may be any text at all.

        If this fails: the key is made of UTF-8, which cannot write half a surrogate pair.
        """
        answers.keep(MODEL, "rerank", odd, "0.5", at=MONDAY)

        assert answers.get(MODEL, "rerank", odd) == "0.5"

    def test_the_last_answer_counts(self, answers: ModelAnswers) -> None:
        """
        A second answer takes the first one's place, and its time.

        If this fails: the insert is ignored where a row is, or leaves the old time.
        """
        answers.keep(MODEL, "expansion", "hive", "bees", at=MONDAY)
        answers.keep(MODEL, "expansion", "hive", "honey", at=WEDNESDAY)

        assert answers.get(MODEL, "expansion", "hive") == "honey"
        assert answers.counts() == {"expansion": 1}
        assert answers.trim(WEDNESDAY) == 0

    def test_several_at_once(self, answers: ModelAnswers) -> None:
        """
        Answers that are kept together are found each for itself; keeping none changes nothing.

        If this fails: they are kept as one, or an empty batch is an error.
        """
        answers.keep_all(MODEL, "rerank", {"a": "0.1", "b": "0.2"}, at=MONDAY)
        answers.keep_all(MODEL, "rerank", {}, at=MONDAY)

        assert [answers.get(MODEL, "rerank", name) for name in "abc"] == ["0.1", "0.2", None]

    def test_all_or_none(self, answers: ModelAnswers) -> None:
        """
        Where one answer cannot be stored none of those given with it is.

        If this fails: they are written one by one, outside of a transaction.
        """
        with pytest.raises(InvalidInput):
            answers.keep_all(MODEL, "rerank", {"a": "0.1", "b": "half \ud83d a bee"}, at=MONDAY)

        assert answers.counts() == {}

    def test_counts_by_purpose(self, answers: ModelAnswers) -> None:
        """
        Answers are counted by what they are for, whichever model gave them.

        If this fails: look at the grouping.
        """
        answers.keep(MODEL, "expansion", "hive", "bees", at=MONDAY)
        answers.keep("another", "expansion", "hive", "bees", at=MONDAY)
        answers.keep(MODEL, "intent", "hive", "WHAT", at=MONDAY)

        assert answers.counts() == {"expansion": 2, "intent": 1}

    def test_trim(self, answers: ModelAnswers) -> None:
        """
        Trimming forgets what was kept earlier than the given time, tells how many, and keeps the rest.

        If this fails: the boundary itself goes too; compare with `<`.
        """
        for day in (MONDAY, TUESDAY, WEDNESDAY):
            answers.keep(MODEL, "rerank", day, "0.5", at=day)

        assert answers.trim(TUESDAY) == 1
        assert [answers.get(MODEL, "rerank", day) for day in (MONDAY, TUESDAY, WEDNESDAY)] == [
            None,
            "0.5",
            "0.5",
        ]

    def test_trim_a_little(self, answers: ModelAnswers) -> None:
        """
        With a number only so many go, the oldest first, until nothing old is left.

        If this fails: any rows go, not the oldest, or all of them.
        """
        for day in (WEDNESDAY, MONDAY, TUESDAY):
            answers.keep(MODEL, "rerank", day, "0.5", at=day)

        assert answers.trim(WEDNESDAY, at_most=1) == 1
        assert [answers.get(MODEL, "rerank", day) for day in (MONDAY, TUESDAY)] == [None, "0.5"]
        assert [answers.trim(WEDNESDAY, at_most=0), answers.trim(WEDNESDAY, at_most=5)] == [0, 1]
        assert answers.trim(WEDNESDAY, at_most=5) == 0
        assert answers.counts() == {"rerank": 1}
