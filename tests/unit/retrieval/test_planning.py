from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.retrieval.planning import (
    MAX_CLAUSES,
    ClauseKind,
    decomposition_prompt,
    plan,
    read_clauses,
)
from clawmem.domain.text.words import words

JOINS = ["and also", "and what", "and how", "and why", "additionally", "as well as", "along with"]
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
QUERIES = (st.text() | st.lists(st.sampled_from(PIECES), max_size=14).map(" ".join)).filter(str.strip)


@given(QUERIES)
def test_any_text_has_a_plan(query: str) -> None:
    """Two to four clauses with something in them, each once, the important ones first; every word was typed."""
    clauses = plan(query)

    assert all(clause.query.strip() for clause in clauses)
    assert 2 <= len(clauses) == len(set(clauses)) <= MAX_CLAUSES
    assert [c.priority for c in clauses] == sorted(c.priority for c in clauses)
    assert set(words(" ".join(clause.query for clause in clauses))) <= set(words(query))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(list(ClauseKind)),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.sampled_from(["clauses", "type", "query", "priority", "x"]), inner)
    ),
    max_leaves=30,
)
CLAUSES = st.fixed_dictionaries(
    {
        "type": st.sampled_from([*ClauseKind, "web"]),
        "query": st.text(max_size=5),
        "priority": st.integers(-2, 9) | st.text(max_size=2),
    }
)


@given(VALUES | st.fixed_dictionaries({"clauses": st.lists(CLAUSES, max_size=9)}))
def test_whatever_a_model_says_becomes_a_plan(answer: object) -> None:
    """At most four clauses with words, each once, most important first, of priorities 1 to 5; never an error."""
    clauses = read_clauses(answer)

    assert len(clauses) <= MAX_CLAUSES
    assert len({(clause.type, clause.query.casefold()) for clause in clauses}) == len(clauses)
    assert [clause.priority for clause in clauses] == sorted(clause.priority for clause in clauses)
    assert all(1 <= clause.priority <= 5 and clause.query.strip() == clause.query != "" for clause in clauses)


def test_the_prompt_tells_the_question_and_what_the_session_is_about() -> None:
    """A context is told up to 300 characters, none is not mentioned, and braces are only text."""
    asked = decomposition_prompt("what of {query} and {this}?", " " + "x" * 299 + "yz")

    assert "Question: what of {query} and {this}?\n" in asked
    assert "The session is about: " + "x" * 299 + "y\n" in asked
    assert "session" not in decomposition_prompt("tea")
