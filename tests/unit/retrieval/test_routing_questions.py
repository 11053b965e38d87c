from __future__ import annotations

import csv
import re
from collections import Counter
from pathlib import Path

from clawmem.domain.retrieval.routing import Route, route

ROOT = Path(__file__).parents[3]
RIGHT_AT_LEAST = 0.95
LEAST_QUESTIONS = 160
QUESTIONS = [
    (Route(expected), question)
    for expected, question in csv.reader(
        (ROOT / "tests" / "data" / "routing_questions.tsv").read_text("utf-8").splitlines(),
        delimiter="\t",
        quoting=csv.QUOTE_NONE,
    )
]
CONFUSED = [(expected, route(q), q) for expected, q in QUESTIONS if route(q) is not expected]


def test_questions_as_people_type_them_go_where_they_should() -> None:
    """Of questions that were labelled before the rules saw them, 95 of 100 are routed right."""
    listed = "\n".join(f"{expected} -> {actual}: {question}" for expected, actual, question in CONFUSED)

    assert len(CONFUSED) <= (1 - RIGHT_AT_LEAST) * len(QUESTIONS), f"confusions:\n{listed}"


def test_a_question_in_doubt_goes_the_way_that_does_everything() -> None:
    """What is routed wrong is answered by words and meaning together, and never by less than that."""
    assert {actual for _, actual, _ in CONFUSED} <= {Route.HYBRID}


def test_every_route_is_asked_for() -> None:
    """There are enough questions, each once, for every route."""
    by_route = Counter(expected for expected, _ in QUESTIONS)

    assert len(QUESTIONS) == len({question for _, question in QUESTIONS}) >= LEAST_QUESTIONS
    assert by_route.keys() == set(Route)
    assert min(by_route.values()) >= 20


def test_the_confusions_are_told() -> None:
    """The page on routing lists exactly the questions that go wrong, and how many went right."""
    page = (ROOT / "docs" / "routing.md").read_text("utf-8")
    told = re.findall(r"^\| ([a-z]+) \| ([a-z]+) \| (.+) \|$", page, re.MULTILINE)

    assert told == [(str(expected), str(actual), question) for expected, actual, question in CONFUSED]
    assert f"{len(QUESTIONS) - len(CONFUSED)} of {len(QUESTIONS)}" in page
