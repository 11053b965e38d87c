from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.adapters.files.front_matter import parse_front_matter
from clawmem.domain.documents.properties import note_properties
from clawmem.ports.documents import Property


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: yes", "yes"),
        ("a: on", "on"),
        ("a: true", True),
        ("a: 010", "010"),
        ("a: 1.50", "1.50"),
        ("a:", None),
        ("a: ~", None),
        ("a: 'it''s'", "it's"),
        ("a: 2026-02-30", "2026-02-30"),
        ("a: 10:30", "10:30"),
        ("a:\n- x\n- 2\n- \n", ["x", "2", None]),
        ("a: []", []),
        ("a: |\n  one\n  two\n", "one\ntwo\n"),
        ("a: 日本 # comment", "日本"),
        ("a: 1\r\n", "1"),
        ("\ufeffa: 1", "1"),
    ],
)
def test_values_come_as_yaml_reads_them(text: str, value: object) -> None:
    """YAML 1.2 decides what is a boolean or nothing; all else is text."""
    assert parse_front_matter(text) == {"a": value}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: {b: 1, c: [x, y]}", "{b: 1, c: [x, y]}"),
        ("a:\n  b:\n    c: 2026-01-05\n", "{b: {c: 2026-01-05}}"),
        ("a: [x, {b: null, c: true}]", ["x", "{b: null, c: true}"]),
        ("a: [[note]]", ["[note]"]),
        ("a: !!python/object:os.system {}", "{}"),
    ],
)
def test_nested_values_become_text(text: str, value: object) -> None:
    """What is nested deeper than a list of scalars is printed in flow style."""
    assert parse_front_matter(text) == {"a": value}


@pytest.mark.parametrize("written", ["2150.00", "0171", "1_000", "1e3", "-0.50", "7"])
def test_a_number_prints_as_written(written: str) -> None:
    """A price keeps its cents and a postcode its first zero, also in a list and in a nested value."""
    read = parse_front_matter(f"a: {written}\nb: [{written}]\nc: {{d: {written}}}")

    assert note_properties(read, (), (), ()) == [
        Property("a", written, written.lower()),
        Property("b", written, written.lower()),
        Property("c", f"{{d: {written}}}", f"{{d: {written}}}".lower()),
    ]


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", "null", "{}"])
def test_nothing_is_an_empty_mapping(text: str) -> None:
    """A front matter without a key is empty, not malformed."""
    assert parse_front_matter(text) == {}


def test_a_tab_is_a_blank() -> None:
    """YAML allows tabs after a colon, and editors write them before items."""
    assert parse_front_matter("a:\tb\ntags:\n\t- c\n") == {"a": "b", "tags": ["c"]}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: 1\na: 2\n", "duplicate key"),
        ("a:\t- b\n\tc", "line"),
        ("a: [1, 2", "line"),
        ("a: b: c", "mapping values are not allowed here in line 2"),
        ("a: 1\n---\nb: 2\n", "document"),
        ("- a\n- b\n", "not a mapping"),
        ("just text", "not a mapping"),
        ("a: {{ date }}", "."),
        ("a: *gone", "alias"),
        ("a: \x07", "."),
        ("a: \ud800", "."),
        ("a: &a 1\nb: {<<: *a}\n", "aliases are not supported"),
        (f"a: {'x' * 65536}\n", "64 KiB"),
        (f"a: {'日' * 22000}\n", "64 KiB"),
        ("a: &b [1]\nc: *b\n", "aliases are not supported"),
    ],
)
def test_malformed_is_a_short_reason(text: str, reason: str) -> None:
    """Anything that is not a mapping in plain YAML is one ValueError with one short printable line."""
    with pytest.raises(ValueError, match=reason) as caught:
        parse_front_matter(text)

    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 160


def multiplied(levels: int, times: int, first: str) -> str:
    """Levels of anchors, each naming the one before it several times."""
    lines = [f"a0: &a0 {first}"]
    lines += [
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1} '] * times)}]" for n in range(1, levels + 1)
    ]  # the space keeps the comma out of the alias
    return "\n".join(lines)


@pytest.mark.parametrize(
    "text",
    [
        multiplied(9, 9, "x"),
        multiplied(2, 45, "x" * 60_000),
        "a: &a [*a]",
        "a: &a {b: *a}",
        "a: " + "[" * 60_000,
        "a: " + "{a: " * 10_000,
        "- " * 30_000,
        "? " * 30_000,
        f"+++\na{'.a' * 30_000} = 1",
        f"+++\n[a{'.a' * 30_000}]",
    ],
    ids=["laughs", "fat laughs", "list in itself", "mapping in itself", "[", "{", "-", "?", "dots", "table"],
)
def test_bombs_are_refused_quickly(text: str) -> None:
    """Aliases that multiply or meet themselves and bottomless nesting cost a second at the most."""
    started = time.process_time()

    with pytest.raises(ValueError, match=r"nested too deeply|aliases are not supported"):
        parse_front_matter(text)

    assert time.process_time() - started < 1


@given(st.text(alphabet=st.sampled_from("ab1:-[]{}#&*!|>'\"%@`,? \n\t~<=.0_\x00é"), max_size=60))
def test_only_value_errors(text: str) -> None:
    """Whatever the text, the answer is a mapping with text for keys, or a ValueError."""
    try:
        found = parse_front_matter(text)
    except ValueError as error:
        assert str(error).isprintable()
    else:
        assert all(isinstance(key, str) for key in found)
        assert str(found)
