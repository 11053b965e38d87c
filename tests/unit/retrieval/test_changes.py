"""Sentences that say what changed."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.retrieval.versions import Statement


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
    assert Statement(older, topic).has_other_value(f"Letter.\n{sentence} Not a surprise.") is is_other
    assert not Statement(f"{older} The workshop next door is €450 a month.", topic).has_other_value(sentence)


def test_a_line_of_megabytes_is_read_in_linear_time() -> None:
    line = " ".join(f"Насос номер{number} качает воду." for number in range(40_000))
    begun = process_time()

    assert Statement("Насос качает в котёл.", ["насос", "бак"]).is_changed_by(
        f"{line} Now насос качает в бак."
    )

    assert process_time() - begun < 3


@given(st.text(), st.lists(st.text(min_size=1), max_size=5), st.text())
def test_any_text(body: str, topic: list[str], older: str) -> None:
    assert not (Statement(older, topic).is_changed_by(body) and not body)
    assert not Statement(older, []).is_changed_by(body)
    assert not Statement(older, []).has_other_value(body)
