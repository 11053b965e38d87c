"""Edits of settings in JSON, JSON5 and YAML: one value changes, and comments stay."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from clawmem.app.services.setup.settings_file import JSON5, YAML_FORMAT, Document

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
    document = Document(JSON5, text)
    assert document.value == whole and document.text == text
    inside = whole.get(outer)
    if not isinstance(inside, dict):
        document.put((outer,), {})
        inside = {}
    before = document.text

    document.put((outer, name), [1])
    document.add((outer, name), "x")

    changed = document.text
    assert Document(JSON5, changed).value == {**whole, outer: {**inside, name: [1, "x"]}}
    if name not in inside:
        assert all(changed.count(mark) >= before.count(mark) for mark in ("/* [,] */", "// c"))
    document = Document(JSON5, changed)
    document.drop((outer, name))
    rest = {key: value for key, value in inside.items() if key != name}
    left = {key: value for key, value in whole.items() if key != outer}
    assert Document(JSON5, document.text).value == ({**whole, outer: rest} if rest else left)


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

    document = Document(YAML_FORMAT, text)
    document.put(("b", "x"), "new: value")
    changed = document.text

    read = YAML(typ="safe", pure=True).load
    assert read(changed) == {**whole, "b": {**whole.get("b", {}), "x": "new: value"}}
    assert all(f"# {comment}" in changed for comment in ["top", *(whole.keys() - {"b"})])
    document.drop(("b", "x"))
    rest = {key: value for key, value in whole.get("b", {}).items() if key != "x"}
    assert (read(document.text) or {}).get("b", {}) == rest
