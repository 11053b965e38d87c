from __future__ import annotations

import csv
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.retrieval.planning import MAX_KEYWORD_LENGTH, Route, route

RIGHT_AT_LEAST = 0.95
QUESTIONS = [
    (Route(expected), question)
    for expected, question in csv.reader(
        (Path(__file__).parent / "routing_questions.tsv").read_text("utf-8").splitlines(),
        delimiter="\t",
        quoting=csv.QUOTE_NONE,
    )
]

# One question that only the rule of its route fits, in the order of the rules.
ONLY = ("yesterday", "reason for it", "similar to it", "as well as", "a.md", "explain it")


def test_questions_go_where_they_should() -> None:
    """Of questions labelled by sense, and not by the rules, 95 of 100 are routed right."""
    confused = [
        f"{expected} -> {route(question)}: {question}"
        for expected, question in QUESTIONS
        if route(question) is not expected
    ]

    assert len(confused) <= (1 - RIGHT_AT_LEAST) * len(QUESTIONS), "\n".join(["confusions:", *confused])


@given(st.text() | st.lists(st.sampled_from([*ONLY, "and", "?", "both"])).map(" ".join))
def test_any_text_has_a_route(query: str) -> None:
    """And blanks around it are of no account."""
    assert route(query) in Route
    if len(query) < MAX_KEYWORD_LENGTH - 2:
        assert route(f" {query} ") is route(query)
