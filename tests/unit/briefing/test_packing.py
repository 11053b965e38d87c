"""Texts within a budget of tokens."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.briefing.blocks import block, packed
from clawmem.domain.text.words import token_count

LINES = st.lists(st.text(st.characters(exclude_characters="\n"), max_size=200), max_size=12)


@given(LINES, st.integers(0, 120))
def test_a_budget_is_never_exceeded(lines: list[str], budget: int) -> None:
    """And the more there is, the more is kept."""
    kept = packed(lines, budget)

    assert token_count("\n".join(kept)) <= budget
    assert len(packed(lines, budget + 50)) >= len(kept)


@given(LINES, LINES, st.integers(30, 120))
def test_a_block_is_one_element_within_its_budget(first: list[str], second: list[str], budget: int) -> None:
    """It begins and ends with its tag, or it is empty."""
    made = block("vault-x", "For information.", ["\n".join(first), "\n".join(second)], budget)

    assert token_count(made) <= budget
    assert not made or (made.startswith("<vault-x>\nFor information.\n") and made.endswith("\n</vault-x>"))
