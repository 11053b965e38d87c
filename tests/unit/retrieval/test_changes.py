"""Sentences that say what changed."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.retrieval.versions import states_change, states_other_value, weight_of_change


@pytest.mark.parametrize(
    ("sentence", "is_other"),
    [
        ("From the first of July the workshop goes to €865 a month.", True),
        ("The workshop is €780 a month.", False),  # the same value
        ("The workshop costs €120 a month for power and €90 a month for water.", False),  # a list of others
        ("The workshop is 92 square metres, for months.", False),  # another unit
        ("The flat goes to €865 a month.", False),  # another subject
        ("The workshop closes for 2 months.", False),  # another measure
    ],
)
def test_another_value(sentence: str, is_other: bool) -> None:
    topic = ("pay", "workshop", "month")
    older = "Lease\nThe rent of the workshop is €780 a month, notice six months ahead."
    assert states_other_value(f"Letter.\n{sentence} Not a surprise.", topic, older) is is_other


def test_the_weight_of_a_change() -> None:
    weights = {"orthodontist": 4.0, "joris": 2.0, "pell": 4.0, "weeks": 1.0}
    body = "Mrs Pell retires. From now on Joris goes to Dr Vasquez, every eight weeks."
    assert weight_of_change("2026-10-05", body, ["orthodontist", "joris"], weights) == 2.0 + 1.0 + 4.0 / 2
    assert weight_of_change("2026-10-05", body, ["orthodontist"], weights) == 0.0  # nothing of the question
    assert (
        weight_of_change("2026-10-05", "Joris and Mrs Pell laughed.", ["joris"], weights) == 0.0
    )  # no marker


def test_a_line_of_megabytes_is_read_in_linear_time() -> None:
    """Of what stands before a sentence in its line, the nearest thousand characters count."""
    line = " ".join(f"Насос номер{number} качает воду." for number in range(40_000))
    begun = process_time()

    assert states_change(f"{line} Now насос качает в бак.", ["насос", "бак"], "Насос качает в котёл.")
    assert weight_of_change("", f"{line} Joris now.", ["joris"], {"joris": 2.0, "номер39999": 4.0}) == 4.0
    assert weight_of_change("", f"{line} Joris now.", ["joris"], {"joris": 2.0, "номер7": 4.0}) == 0.0

    assert process_time() - begun < 3


@given(st.text(), st.lists(st.text(min_size=1), max_size=5), st.text())
def test_any_text(body: str, topic: list[str], older: str) -> None:
    assert not (states_change(body, topic, older) and not body)
    assert not states_change(body, [], older)
    assert not states_other_value(body, [], older)
