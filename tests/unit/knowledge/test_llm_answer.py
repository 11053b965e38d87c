from __future__ import annotations

import json
import string
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clawmem.domain.knowledge.llm_answer import fitted, json_answer, read_json

CLAUSES: dict[str, Any] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "type": {"enum": ["bm25", "vector"]},
            "query": {"type": "string"},
            "priority": {"type": "integer"},
        },
        "required": ["type", "query"],
    },
}
GOOD = '[{"type": "bm25", "query": "hive"}]'

texts = st.text(st.characters(exclude_categories=["Cs"])).filter(lambda text: "think>" not in text.lower())
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
)
values = st.recursive(
    scalars | texts, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4)
)
containers = st.lists(values, max_size=5) | st.dictionaries(texts, values, max_size=5)
json_like = st.text(st.sampled_from("{}[]\"'“”:,\\/*#`~ \n\t019.-eEtruefalsnNoneu<think>dD83é🐝\ud83d\x00"))


class Model:
    """A model that gives its answers one after another, and remembers what it was asked."""

    def __init__(self, *answers: str) -> None:
        self._answers = iter(answers)
        self.asked: list[str] = []

    def __call__(self, prompt: str) -> str:
        self.asked.append(prompt)
        return next(self._answers)


@given(containers)
def test_json_is_read_as_it_is(value: Any) -> None:
    """Whatever is written as JSON comes back."""
    assert read_json(json.dumps(value)) == value
    assert read_json(json.dumps(value, ensure_ascii=False, indent=1)) == value


@given(json_like | st.text())
@example('{"a":' * 100_000)
@example("[" * 200_000)
@example('{"a": ' + "9" * 10_000 + "}")
@example("/*" * 50_000)
@example('{"' * 30_000)
@example("```\n" * 20_000)
@example("<think>" * 20_000)
@example("{'a': \"" + "'\"" * 20_000)
def test_nothing_raises(text: str) -> None:
    """Any text gives None or a value that can be written and stored as JSON."""
    value = read_json(text)

    assert value is None or isinstance(value, dict | list)
    assert isinstance(json.dumps(value, allow_nan=False, ensure_ascii=False).encode(), bytes)


@given(
    st.lists(
        st.dictionaries(st.text(string.ascii_letters, min_size=1), st.text(string.printable)), max_size=6
    ),
    st.data(),
)
def test_of_a_cut_array_the_complete_items_remain(items: list[dict[str, str]], data: st.DataObject) -> None:
    """Cut anywhere, an array is a beginning of what it was going to be; nothing incomplete is in an array."""
    written = json.dumps(items)
    cut = written[: data.draw(st.integers(0, len(written)))]
    read = read_json(cut)

    assert not isinstance(read, list) or read == items[: len(read)]


@given(containers)
def test_a_value_does_not_surprise_the_check(value: Any) -> None:
    """The check says yes or no to whatever was read."""
    for schema in (CLAUSES, {"type": "object"}, {"type": ["array", "null"]}, {}, {"enum": [1, "a"]}):
        assert isinstance(fitted(value, schema)[1], str)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ([], ""),
        ([{"type": "bm25", "query": "hive"}], ""),
        ([{"type": "bm25", "query": "hive", "priority": 2.0, "more": []}], ""),
        ({}, "$ is not of type array"),
        ([1], "$[0] is not of type object"),
        ([{"type": "bm25"}], "$[0].query is missing"),
        ([{"type": "graph", "query": ""}], '$[0].type is none of ["bm25", "vector"]'),
        ([{"type": "bm25", "query": None}], "$[0].query is not of type string"),
        ([{"type": "bm25", "query": "", "priority": 2.5}], ""),
    ],
)
def test_the_check_names_the_first_problem(value: Any, problem: str) -> None:
    """What does not fit is named by its place and by what was expected there."""
    assert fitted(value, CLAUSES)[1] == problem


def test_a_good_answer_is_asked_for_once() -> None:
    """An answer that fits is taken, without a second question."""
    model = Model(GOOD)

    assert json_answer(model, "Which clauses?", CLAUSES) == json.loads(GOOD)
    assert model.asked == ["Which clauses?"]


@pytest.mark.parametrize("bad", ["No.", '[{"type": "graph", "query": "x"}]', '{"type": "bm25"}', ""])
def test_a_bad_answer_is_shown_to_its_author(bad: str) -> None:
    """The second question holds the first, the answer to it and what was wrong; its answer counts."""
    model = Model(bad, f"Of course:\n{GOOD}")

    assert json_answer(model, "Which clauses?", CLAUSES) == json.loads(GOOD)
    first, second = model.asked
    assert second.startswith(first)
    assert bad in second


def test_errors_of_the_model_are_the_callers() -> None:
    """What the question itself raises is not swallowed."""

    def failing(prompt: str) -> str:
        raise TimeoutError

    ask: Callable[[str], str] = failing
    with pytest.raises(TimeoutError):
        json_answer(ask, "Which clauses?", CLAUSES)


def test_items_that_do_not_fit_are_dropped() -> None:
    """As long as one fits; where none does the answer is shown to its author, and an empty list is an answer."""
    item = {
        "type": "object",
        "properties": {"kind": {"enum": ["a"]}, "note": {"type": "string"}},
        "required": ["kind"],
    }
    schema = {
        "type": "object",
        "properties": {"items": {"type": "array", "items": item}},
        "required": ["items"],
    }
    asked = []

    def ask(prompt: str) -> str:
        asked.append(prompt)
        return json.dumps({"items": [{"kind": "b"}, 7, {"kind": "a", "note": 3}]})

    assert json_answer(ask, "?", schema) == {"items": [{"kind": "a"}]}
    assert len(asked) == 1
    assert fitted({"items": [{"kind": "b"}]}, schema)[1]
    assert fitted({"items": []}, schema) == ({"items": []}, "")
    assert fitted({"other": []}, schema)[1]
