from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.documents.tokens import words
from clawmem.domain.retrieval.planning import (
    MAX_CLAUSES,
    MAX_SIMPLE_WORDS,
    has_several_topics,
    is_simple,
    plan,
    question_parts,
)

JOINS = ["and also", "and what", "and how", "and why", "additionally", "as well as", "along with"]
LONG = "the quarterly numbers of the northern branch"
PIECES = [
    *JOINS,
    "both",
    "and",
    "plus",
    "?",
    "？",
    ",",
    "what",
    "why",
    "about",
    "caching",
    "Ann",
    "2",
    "C",
    "京都",
]
QUERIES = st.text() | st.lists(st.sampled_from(PIECES), max_size=14).map(" ".join)


@pytest.mark.parametrize(
    "query",
    [
        LONG,
        f"{LONG} and the cost",
        f"{LONG}?? really",
        f"{LONG}!?!?",
        f"both of them {LONG}",
        f"{LONG} plush surplus",
        f"band also {LONG}",
        f"{LONG} and whatever",
        f"{LONG} in C plus plus",
        f"2 plus 2 {LONG}",
    ],
)
def test_lookalikes_join_nothing(query: str) -> None:
    """Parts of words, sums, languages and doubled question marks."""
    assert not has_several_topics(query)
    assert is_simple(query)


@pytest.mark.parametrize(("long_words", "simple"), [(MAX_SIMPLE_WORDS, True), (MAX_SIMPLE_WORDS + 1, False)])
def test_few_words_are_simple_whatever_they_say(long_words: int, simple: bool) -> None:
    """Words of less than three letters do not count; "and" and "also" do."""
    assert is_simple(f"it is {'tea ' * (long_words - 2)} and also") is simple


@given(QUERIES)
def test_any_text_has_a_plan(query: str) -> None:
    """Two to four clauses with something in them, the important ones first; none for nothing."""
    clauses = plan(query)

    assert bool(clauses) is bool(query.strip())
    assert all(clause.query.strip() for clause in clauses)
    assert len(clauses) in (0, *range(2, MAX_CLAUSES + 1))
    assert [c.priority for c in clauses] == sorted(c.priority for c in clauses)


@given(QUERIES)
def test_parts_say_nothing_new(query: str) -> None:
    """Every word of a part was typed, and no part comes twice."""
    parts = question_parts(query)

    assert len(parts) == len(set(parts))
    assert set(words(" ".join(parts))) <= set(words(query))


@pytest.mark.parametrize(
    "part",
    ["both ", "both x ", "? ", "?a", " ", "and ", "plus ", "and what ", "about ", "x, ", "as well as ", "\n"],
)
def test_no_question_takes_long_to_take_apart(part: str) -> None:
    """A pasted page is searched in one pass."""
    begun = time.process_time()
    plan("some longer words that are not simple, " + part * (10_000 // len(part)))

    assert time.process_time() - begun < 0.5
