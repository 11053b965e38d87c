from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.retrieval.intent import DECIDED, Intent, classify_intent

# What stands for a category, and what looks as if it did.
SIGNS = (
    "because, reasons, decision, trade-offs, timeline, ago, last year, in 2024, person, @ann, #garden, why, ?"
).split(", ")


@given(st.text() | st.lists(st.sampled_from(SIGNS)).map(" ".join), st.booleans())
def test_any_question_is_classified(query: str, names_time: bool) -> None:
    """WHAT is the answer exactly where no word decides."""
    found = classify_intent(query, names_time=names_time)

    assert (found.intent is Intent.WHAT) is (found.confidence == 0.6) is not (found.confidence >= DECIDED)
    assert 0.6 <= found.confidence <= 0.95
