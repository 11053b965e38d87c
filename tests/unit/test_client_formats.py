"""Settings of agents are rewritten for other values: comments and equal values stay as they were written."""

from __future__ import annotations

import json
from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.adapters.clients.formats import JSON, JSON5, TOML, YAML_FORMAT, Format

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text("ab\"\\{}[],:/*#é\n", max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
OBJECTS = st.dictionaries(st.sampled_from("abc"), VALUES, max_size=3)
BLANKS = st.sampled_from(["", " ", "\n", "\r\n  ", " // c\n", "/* [,] */"])


@st.composite
def commented(draw: st.DrawFn, value: object) -> str:
    """The JSON5 text of *value* with blanks, comments and trailing commas at any place."""
    if not isinstance(value, (dict, list)):
        return json.dumps(value)
    pairs = value.items() if isinstance(value, dict) else [("", element) for element in value]
    parts = []
    for key, element in pairs:
        name = f"{key}{draw(BLANKS)}:{draw(BLANKS)}" if isinstance(value, dict) else ""
        parts.append(f"{draw(BLANKS)}{name}{draw(commented(element))}{draw(BLANKS)}")
    text = ",".join(parts) + ("," + draw(BLANKS) if parts and draw(st.booleans()) else draw(BLANKS))
    return f"{{{text}}}" if isinstance(value, dict) else f"[{text}]"


@given(st.data(), OBJECTS)
def test_members_come_and_go(data: st.DataObject, values: dict[str, object]) -> None:
    """Every comment stays when an entry is added to any object; without the entry the values are those of before."""
    text = data.draw(commented(values))
    added = deepcopy(values)
    for value in added.values():
        if isinstance(value, dict):
            value["clawmem"] = {"command": ["x"]}
    added["clawmem"] = [1]

    changed = JSON5.rewrite(text, added)

    assert JSON5.parse(changed) == added
    assert all(changed.count(mark) >= text.count(mark) for mark in ("/* [,] */", "// c"))
    restored = JSON5.rewrite(changed, values)
    assert JSON5.parse(restored) == values
    assert all(restored.count(mark) >= text.count(mark) for mark in ("/* [,] */", "// c"))


@pytest.mark.parametrize("form", [JSON, JSON5, TOML, YAML_FORMAT])
@given(
    values=st.dictionaries(
        st.sampled_from("abc"), st.dictionaries(st.sampled_from("xyz"), st.text("ab: #'", max_size=4))
    )
)
def test_values_are_read_back(form: Format, values: dict[str, dict[str, str]]) -> None:
    """Whatever was in the text before."""
    text = form.rewrite("", values)
    assert form.parse(text) == values
    other = {**values, "b": {"x": "new: value"}}
    assert form.parse(form.rewrite(text, other)) == other
    assert form.parse(form.rewrite(form.rewrite(text, other), values)) == values


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (JSON, '{\n\t"a": "\\ud83d",\n\t"b": {\n\t\t"c": 1\n\t}\n}'),
        (JSON5, "{\n  // mine\n  a: 0x10, 'b': { c: 1, }, // both\n}\n"),
        (JSON, '{"a": [1e400, 1.10, 1e-7, -0], "b": {"c": 1}, "d": "\\ud83d"}\n'),
        (TOML, '# mine\na = 1 # one\n\n[b.c]\nd = "e"\n'),
        (YAML_FORMAT, "# mine\na: 1 # one\nb:\n  c: 'd'\n\n# end\ne: 2\n"),
    ],
)
def test_an_entry_leaves_the_text_as_it_was(form: Format, text: str) -> None:
    """Comments, numbers, quotation marks and the indentation."""
    values = form.parse(text)
    changed = form.rewrite(text, {**values, "b": {**values["b"], "clawmem": {"x": "y"}}})
    assert "clawmem" in changed
    assert form.rewrite(changed, values) == text


def test_a_list_keeps_the_text_of_its_members() -> None:
    """Numbers and blanks, also of members that are equal."""
    changed = JSON.rewrite('{"a": [{"b":1.10}, {"b":1.10}]}\n', {"a": ["clawmem", {"b": 1.1}, {"b": 1.1}]})
    assert changed.count('{"b":1.10}') == 2 and len(JSON.parse(changed)["a"]) == 3
