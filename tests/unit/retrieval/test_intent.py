from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.retrieval.intent import Intent, classify_intent, has_recency_intent

ASKS = (
    "recent work, recently, the latest plan, last session, last time, last week, last month, "
    "last few days, where we left off, where was I, where were we, pick up the thread, continue, "
    "yesterday, today?, what was I doing, what were we working on"
).split(", ")
DOES_NOT_ASK = [
    "",
    "current owner",
    "last year",
    "recency",
    "recentring",
    "latests",
    "discontinue",
    "continued",
    "todays",
    "what were we told",
    "where was it",
    "left offer",
    "pickup",
]


@pytest.mark.parametrize("query", ASKS)
def test_asks_for_what_is_recent(query: str) -> None:
    """Each phrase of the list declares recency intent, in any case."""
    assert has_recency_intent(query)
    assert has_recency_intent(query.upper())


@pytest.mark.parametrize("query", DOES_NOT_ASK)
def test_does_not_ask(query: str) -> None:
    """Parts of longer words and words that merely sound timely do not."""
    assert not has_recency_intent(query)


# What stands for a category and for no other one.
SIGNS = {
    Intent.WHY: "because reasons decision blocked depends trade-offs chose rationale".split(),
    Intent.WHEN: [
        "timeline",
        "dates",
        "ago",
        "last year",
        "before 5",
        "in 2024",
        "since march",
        "chronology",
    ],
    Intent.ENTITY: "person teams project @ann #garden relationship mentions organisation company".split(),
}


@pytest.mark.parametrize(("intent", "sign"), [(intent, sign) for intent, of in SIGNS.items() for sign in of])
def test_one_sign_decides(intent: Intent, sign: str) -> None:
    """A lone word of a category is three points, enough to be sure without a model."""
    found = classify_intent(f"the {sign} notes")

    assert found.intent is intent
    assert found.confidence == 0.9
    assert found.is_decided


@given(st.text() | st.lists(st.sampled_from(sum(SIGNS.values(), ["why", "?"]))).map(" ".join), st.booleans())
def test_any_question_is_classified(query: str, names_time: bool) -> None:
    """WHAT is the answer exactly where no word decides."""
    found = classify_intent(query, names_time=names_time)

    assert (found.intent is Intent.WHAT) is (found.confidence == 0.6) is not found.is_decided
    assert 0.6 <= found.confidence <= 0.95
