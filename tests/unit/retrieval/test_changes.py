"""Sentences that say what changed."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.retrieval.versions import states_change, states_other_value


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
    assert not states_other_value(sentence, topic, f"{older} The workshop next door is €450 a month.")


def test_a_number_that_does_not_hold() -> None:
    """The passage that is changed has it."""
    correction = "Correction: the crane for the yawl is at 10:00 on 9 April, not 08:30."
    assert states_change(correction, ["crane", "yawl"], "The crane comes for the yawl on 9 April at 08:30.")
    assert not states_change(correction, ["launch", "yawl"], "We launch the yawl, with a crane, on 9 April.")


def test_a_line_of_megabytes_is_read_in_linear_time() -> None:
    line = " ".join(f"Насос номер{number} качает воду." for number in range(40_000))
    begun = process_time()

    assert states_change(f"{line} Now насос качает в бак.", ["насос", "бак"], "Насос качает в котёл.")

    assert process_time() - begun < 3


@given(st.text(), st.lists(st.text(min_size=1), max_size=5), st.text())
def test_any_text(body: str, topic: list[str], older: str) -> None:
    assert not (states_change(body, topic, older) and not body)
    assert not states_change(body, [], older)
    assert not states_other_value(body, [], older)
