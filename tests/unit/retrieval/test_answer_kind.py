from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.retrieval.answer_kind import asks_for_number, holds_number


@pytest.mark.parametrize("measure", "many much old long often far tall big large heavy".split())
def test_questions_for_numbers(measure: str) -> None:
    """ "How many" and its kin ask for a number, anywhere in the question and in any case."""
    assert asks_for_number(f"how {measure} is it")
    assert asks_for_number(f"And now: HOW {measure.upper()} is it?")
    assert not asks_for_number(f"{measure} how is it")


@pytest.mark.parametrize(
    "question", ["", "how", "how did it go", "how manyfold", "somehow much", "many", "what is the number"]
)
def test_questions_for_something_else(question: str) -> None:
    """Neither word alone, nor a part of another word, asks for a number."""
    assert not asks_for_number(question)


@given(st.text(), st.integers(0, 10**9), st.text())
def test_digits_are_numbers(before: str, number: int, after: str) -> None:
    """A text with a digit holds a number, whatever stands around it."""
    assert holds_number(f"{before}{number}{after}")


@given(st.text(alphabet="abcdfgjkp ,.!?\n"))
def test_letters_are_none(text: str) -> None:
    """Without digits and without one of the words there is no number."""
    assert not holds_number(text)
