"""Order of property values."""

from __future__ import annotations

import pytest

from clawmem.domain.documents.properties import property_key, sort_key
from clawmem.ports.documents import Property


@pytest.mark.parametrize(
    "ordered",
    [
        ["-3", "2.5", "9", "10", "2026-01-09", "2026-11-01", ""],
        ["7", "nan", ""],  # a word that Python reads as a number is a text
        ["[[Ash]]", "Birch", "[[cedar]]"],
    ],
)
def test_values_are_sorted_as_people_read_them(ordered: list[str]) -> None:
    """Numbers by size, then dates and texts without case, then notes without a value."""
    keys = [sort_key([Property("due", value, property_key(value))]) for value in ordered]
    assert keys == sorted(keys) and len(set(keys)) == len(keys)
    several = [Property("due", value, property_key(value)) for value in ordered]
    assert sort_key(several[::-1]) == keys[0]
    assert sort_key([]) == sort_key([Property("due", "", "")]) > keys[0]
