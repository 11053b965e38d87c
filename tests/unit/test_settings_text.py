"""Edits of settings in JSON, JSON5 and YAML: one value changes, and every other byte stays."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from clawmem.app.services.setup.json_text import read_json as read_settings
from clawmem.app.services.setup.json_text import with_json, with_json_element, without_json
from clawmem.app.services.setup.toml_and_yaml import with_yaml, without_yaml

VALUES = st.recursive(
    st.none() | st.booleans() | st.text("ab\"\\{}[],:/*#é\n", max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
OBJECTS = st.dictionaries(st.sampled_from("abc"), VALUES, max_size=3)
BLANKS = st.sampled_from(["", " ", "\n", "\r\n  ", " // c\n", "/* [,] */"])


@st.composite
def commented(draw: st.DrawFn, value: object, *, json5: bool = False) -> str:
    """The JSON or JSON5 text of *value* with blanks, comments and trailing commas at any place."""
    blank = lambda: draw(BLANKS)
    if isinstance(value, str) and json5 and draw(st.booleans()):
        return "'" + json.dumps(value)[1:-1].replace('\\"', '"').replace("'", "\\'") + "'"
    if not isinstance(value, (dict, list)):
        return json.dumps(value)
    name = lambda key: key if json5 and draw(st.booleans()) else draw(commented(key, json5=json5))
    pairs = value.items() if isinstance(value, dict) else [("", one) for one in value]
    parts = [
        blank() + (f"{name(key)}{blank()}:{blank()}" if isinstance(value, dict) else "")
        + draw(commented(one, json5=json5)) + blank()
        for key, one in pairs
    ]  # fmt: skip
    text = ",".join(parts) + ("," + blank() if parts and draw(st.booleans()) else blank())
    return f"{{{text}}}" if isinstance(value, dict) else f"[{text}]"


@given(st.data(), OBJECTS, st.sampled_from("abcd"), st.sampled_from("ad"), st.booleans())
def test_an_edit_changes_one_value(
    data: st.DataObject, whole: dict[str, object], outer: str, name: str, json5: bool
) -> None:
    """Whatever comments are there, they stay; an added member can be taken out again."""
    text = data.draw(commented(whole, json5=json5))
    assert read_settings(text, comments=True, json5=json5) == whole
    inside = whole.get(outer)
    if not isinstance(inside, dict):
        text, whole = with_json(text, (outer,), {}), {**whole, outer: {}}
        inside = {}

    changed = with_json(text, (outer, name), [1])
    more = with_json_element(changed, (outer, name), "x")

    assert read_settings(more, comments=True, json5=json5) == {**whole, outer: {**inside, name: [1, "x"]}}
    if name not in inside:
        assert all(more.count(mark) >= text.count(mark) for mark in ("/* [,] */", "// c"))
    less = without_json(changed, (outer, name))
    assert read_settings(less, comments=True, json5=json5) == {
        **whole,
        outer: {k: v for k, v in inside.items() if k != name},
    }


@given(
    st.dictionaries(
        st.sampled_from("abc"), st.dictionaries(st.sampled_from("xyz"), st.text("ab: #'", max_size=4))
    )
)
def test_an_edit_of_yaml_changes_one_line(whole: dict[str, dict[str, str]]) -> None:
    """A scalar of a mapping is added, replaced and removed."""
    text = "# top\n" + "".join(
        f"{key}:{' {}' if not inner else ''}  # {key}\n"
        + "".join(f"   {name}: {json.dumps(value)}\n" for name, value in inner.items())
        for key, inner in whole.items()
    )
    if whole.get("b") == {}:
        return

    changed = with_yaml(text, ("b", "x"), "new: value")

    read = YAML(typ="safe", pure=True).load
    assert read(changed) == {**whole, "b": {**whole.get("b", {}), "x": "new: value"}}
    assert set(text.splitlines()) - set(changed.splitlines()) <= {
        one for one in text.splitlines() if one.startswith("   x: ")
    }
    if len(whole.get("b", {})) > 1:
        rest = {key: value for key, value in whole["b"].items() if key != "x"}
        assert (read(without_yaml(changed, ("b", "x"))) or {}).get("b") == rest or None
