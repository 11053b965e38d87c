from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.documents.tokens import words
from clawmem.domain.retrieval.planning import (
    MAX_CLAUSES,
    MAX_SIMPLE_WORDS,
    Clause,
    ClauseKind,
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


@pytest.mark.parametrize("join", [*JOINS, "both red and green", "AND ALSO", "As  Well\nAs"])
def test_what_joins_makes_a_question_complex(join: str) -> None:
    """From six words of three letters on."""
    assert has_several_topics(f"{LONG} {join} cost")
    assert not is_simple(f"{LONG} {join} cost")


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


def test_plus_joins_topics_of_a_plan_alone() -> None:
    """It makes a plan, but not a route."""
    query = f"{LONG} plus the cost"

    assert not has_several_topics(query)
    assert not is_simple(query)
    assert len(question_parts(query)) == 2


@pytest.mark.parametrize(
    ("query", "kind"),
    [("retry limit", "bm25"), ("why Postgres", "graph"), ("who runs Oslo", "graph"), ("when is it", "bm25")],
)
def test_a_simple_question_is_asked_by_words_and_by_meaning(query: str, kind: str) -> None:
    """The graph knows why and who."""
    assert plan(query) == (Clause(ClauseKind(kind), query, 1), Clause(ClauseKind.VECTOR, query, 3))


def test_two_parts_are_asked_in_both_ways_each() -> None:
    """What is looked up by words comes first."""
    one, two = "What did we pick for billing", "why did we drop the queue?"

    assert plan(f"{one} and {two}") == (
        Clause(ClauseKind.LEXICAL, one, 1),
        Clause(ClauseKind.GRAPH, two, 1),
        Clause(ClauseKind.VECTOR, one, 3),
        Clause(ClauseKind.VECTOR, two, 3),
    )


def test_more_parts_share_one_clause_by_meaning() -> None:
    """There are never more than four clauses; the last part takes in what is left."""
    query = "List the open risks and also the deadlines and also the owners and also the budget"

    assert [clause.query for clause in plan(query)] == [
        "List the open risks",
        "the deadlines",
        "the owners the budget",
        query,
    ]
    assert [clause.priority for clause in plan(query)] == [1, 1, 1, 3]


def test_a_join_of_nothing_is_asked_whole() -> None:
    """Where a plan with a model would fall back to."""
    query = "Additionally the plan for moving all vaults to the schema"

    assert plan(query) == (Clause(ClauseKind.LEXICAL, query, 1), Clause(ClauseKind.VECTOR, query, 2))


@pytest.mark.parametrize(
    ("query", "parts"),
    [
        ("What did Ann say about rent and also about heating?", "What did Ann say about heating?"),
        ("What did Ann say about rent as well as heating for May", "What did Ann say about heating for May"),
        ("Which database did we pick and why?", "why Which database did we pick"),
        ("How do both the parser and the scanner treat tabs?", "How do the scanner treat tabs?"),
        ("Where are the tiles, and how many are left", "how many are left"),
        ("Wer zahlt? Und wann?", "Und wann?"),
    ],
)
def test_a_part_can_be_asked_alone(query: str, parts: str) -> None:
    """It begins as the first one does, unless it asks by itself or has nothing to ask about."""
    assert question_parts(query)[1] == parts


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
