from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.knowledge.llm_answer import mismatch
from clawmem.domain.retrieval.planning import (
    MAX_CLAUSES,
    MAX_CONTEXT,
    MAX_TOKENS,
    READABLE,
    SCHEMA,
    TEMPERATURE,
    ClauseKind,
    decomposition_prompt,
    read_clauses,
)

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
    assert len({(clause.kind, clause.query.casefold()) for clause in clauses}) == len(clauses)
    assert [clause.priority for clause in clauses] == sorted(clause.priority for clause in clauses)
    assert all(1 <= clause.priority <= 5 and clause.query.strip() == clause.query != "" for clause in clauses)


@given(st.lists(CLAUSES, max_size=4))
def test_one_wrong_clause_spoils_no_other(given_clauses: list[dict[str, object]]) -> None:
    """What the schema would refuse is read all the same, as far as it is of use."""
    good = {"type": "bm25", "query": "tea", "priority": 1}

    assert any(
        clause.query.casefold() == "tea" for clause in read_clauses({"clauses": [*given_clauses[:3], good]})
    )
    assert mismatch({"clauses": [*given_clauses, good]}, READABLE) is None


def test_what_a_model_is_held_to() -> None:
    """The kinds of lookup are the only ones, and the limits are those of the specification."""
    clause = SCHEMA["properties"]["clauses"]["items"]

    assert clause["properties"]["type"]["enum"] == ["bm25", "vector", "graph"]
    assert (TEMPERATURE, MAX_TOKENS, MAX_CONTEXT) == (0.3, 300, 300)


def test_the_prompt_tells_the_question_and_what_the_session_is_about() -> None:
    """A context is told up to 300 characters, none is not mentioned, and braces are only text."""
    asked = decomposition_prompt("what of {query} and {this}?", " " + "x" * 299 + "yz")

    assert "Question: what of {query} and {this}?\n" in asked
    assert "The session is about: " + "x" * 299 + "y\n" in asked
    assert "session" not in decomposition_prompt("tea")
