from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.retrieval.intent import has_recency_intent

ASKS = [
    "recent work",
    "recently",
    "the latest plan",
    "last session",
    "last time",
    "last week",
    "last month",
    "last few days",
    "where we left off",
    "where was I",
    "where were we",
    "pick up the thread",
    "continue",
    "yesterday",
    "today?",
    "what was I doing",
    "what were we working on",
]
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


@given(st.sampled_from(ASKS), st.sampled_from(["  ", "\t", "\n"]))
def test_white_space_between_words_is_free(query: str, gap: str) -> None:
    """The words of a phrase may stand apart by any white space."""
    assert has_recency_intent(query.replace(" ", gap))
