from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.retrieval.intent import (
    DECIDED,
    NAMED_TIME,
    OPENER,
    SIGN,
    Intent,
    classify_intent,
    has_recency_intent,
)

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
LOOKALIKES = (
    "update blockchain independent reasonable reasonably whole whenever candidate agonise projection a@b"
)


@pytest.mark.parametrize(("intent", "sign"), [(intent, sign) for intent, of in SIGNS.items() for sign in of])
def test_one_sign_decides(intent: Intent, sign: str) -> None:
    """A lone word of a category is three points, enough to be sure without a model."""
    found = classify_intent(f"the {sign} notes")

    assert found.intent is intent
    assert found.scores[intent] == SIGN == sum(found.scores.values())
    assert found.confidence == 0.9
    assert found.is_decided


@pytest.mark.parametrize(("opener", "intent"), [("Why", "WHY"), ("when", "WHEN"), ("WHO", "ENTITY")])
def test_what_a_question_opens_with_counts_more(opener: str, intent: str) -> None:
    """Two points on top, at a confidence that is cut off at .95."""
    found = classify_intent(f"{opener} would it be so")

    assert found.intent == intent
    assert found.scores[Intent(intent)] == SIGN + OPENER
    assert found.confidence == 0.95


def test_a_time_that_was_read_is_a_sign_of_when() -> None:
    """Alone it decides by a hair; it does not outweigh a word."""
    alone = classify_intent("notes of 2025-03-04", names_time=True)

    assert (alone.intent, alone.confidence) == (Intent.WHEN, DECIDED)
    assert alone.scores[Intent.WHEN] == NAMED_TIME
    assert alone.is_decided
    assert classify_intent("the team 2025-03-04", names_time=True).intent is Intent.ENTITY


def test_of_equal_scores_why_is_before_when_before_entity() -> None:
    """One sign of each; the order of the words is of no account."""
    assert classify_intent("the team, last year, the decision").intent is Intent.WHY
    assert classify_intent("the team, last year").intent is Intent.WHEN


@pytest.mark.parametrize("query", ["", " ", "?", "was ist der Stand", "retry limit", *LOOKALIKES.split()])
def test_without_a_sign_it_is_what_and_a_model_may_be_asked(query: str) -> None:
    """Words that merely hold a sign are none."""
    found = classify_intent(query)

    assert (found.intent, found.confidence) == (Intent.WHAT, 0.6)
    assert not found.is_decided


@given(st.text() | st.lists(st.sampled_from(sum(SIGNS.values(), ["why", "?"]))).map(" ".join), st.booleans())
def test_any_question_is_classified(query: str, names_time: bool) -> None:
    """The winner has the highest score, and WHAT is the answer exactly where there is none."""
    found = classify_intent(query, names_time=names_time)
    best = max(found.scores.values())

    assert (found.intent is Intent.WHAT) is (best == 0)
    assert found.scores.get(found.intent, 0) == best
    assert 0.6 <= found.confidence <= 0.95
    assert found.is_decided is (best > 0)


@given(st.sampled_from([sign for of in SIGNS.values() for sign in of]))
def test_case_is_free(sign: str) -> None:
    """Shouting changes nothing."""
    assert classify_intent(sign.upper()) == classify_intent(sign)
