"""What a pattern needs must be in everything that it matches: else what costs less would also find less."""

from __future__ import annotations

from string import printable
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clawmem.domain.knowledge import entities
from clawmem.domain.security.patterns import AnyCase, Pattern
from clawmem.domain.surfacing import facts, filters, hints


def patterns_of(module: ModuleType) -> list[Pattern]:
    """The patterns of a module with a cheap test, those inside of tables as well."""
    values = list(vars(module).values())
    values += [one for table in values if isinstance(table, dict) for one in table.values()]
    return [value for value in values if isinstance(value, Pattern) and not value.may_match("")]


@pytest.mark.parametrize(
    "module",
    [
        entities,
        facts,
        hints,
        filters,
    ],
    ids=lambda module: module.__name__.rpartition(".")[2],
)
@settings(max_examples=60)
@given(data=st.data())
def test_what_a_pattern_matches_is_never_ruled_out(module: ModuleType, data: st.DataObject) -> None:
    """A text that the expression finds something in passes the cheap question as well."""
    pattern = data.draw(st.sampled_from(patterns_of(module)))
    text = data.draw(st.from_regex(pattern.compiled, alphabet=printable))

    assert pattern.may_match(text.lower() if isinstance(pattern, AnyCase) else text)


def test_letters_beyond_ascii_are_not_ruled_out() -> None:
    """The Kelvin sign and the long s match a k and an s, in whichever case they are asked for."""
    assert AnyCase("lakes", "lakes").search("la\u212ae\u017f")
    assert not AnyCase("lakes", "lakes").search("ponds")
