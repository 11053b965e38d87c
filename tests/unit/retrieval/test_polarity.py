"""Opposite outcomes: accepted and rejected."""

from __future__ import annotations

import pytest

from clawmem.domain.retrieval.polarity import is_opposite, outcome_asked


@pytest.mark.parametrize(
    ("question", "text", "opposite"),
    [
        ("when did I accept the offer", "We rejected the offer.", True),
        ("when did I accept the offer", "Accepted on Monday, after we had declined the first.", False),
        ("when did I accept the offer", "The offer came.", False),
        ("when did I accept the offer", "We have not accepted it.", True),
        ("which brewery did we turn down", "We accepted the brewery.", True),
        ("which brewery did we turn down", "We turned them down.", False),
        ("welches Angebot wurde angenommen", "Das Angebot wurde abgelehnt.", True),
    ],
)
def test_a_note_about_the_opposite_is_told_apart(question: str, text: str, opposite: bool) -> None:
    """Only a note that states nothing but the opposite; a negation turns an outcome round."""
    outcome = outcome_asked(question)

    assert outcome is not None
    assert is_opposite(outcome, [text]) is opposite


@pytest.mark.parametrize("question", ["what does the roof cost", "did we accept or reject it"])
def test_no_outcome_or_both_are_no_demand(question: str) -> None:
    """A question that names both wants either."""
    assert outcome_asked(question) is None
