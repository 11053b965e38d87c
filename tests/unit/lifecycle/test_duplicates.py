"""When a note gives way to one that says the same."""

from __future__ import annotations

import pytest

from clawmem.contracts.samples import document
from clawmem.domain.lifecycle.policy import is_duplicate, is_replaceable, significant_words
from clawmem.domain.text.likeness import jaccard


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"confidence": 0.39}, True),
        ({"confidence": 0.4}, False),
        ({"confidence": 0.1, "pinned": True}, False),
        ({"confidence": 0.1, "pinned_in_note": True}, False),
    ],
)
def test_who_gives_way(fields: dict[str, object], expected: bool) -> None:
    """Only what is unsure, and nothing that somebody pinned."""
    assert is_replaceable(document("a.md", "Text.", **fields)) is expected


def test_words_that_tell() -> None:
    """Words of more than three letters, whatever their case."""
    assert significant_words("The Slot hold IS four hours, four!") == {"slot", "hold", "four", "hours"}


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("", "", 0.0),
        ("cold store", "", 0.0),
        ("cold store", "store cold", 1.0),
        ("cold store", "cold cellar", 1 / 3),
    ],
)
def test_what_is_shared(one: str, other: str, expected: float) -> None:
    """Of the words of both; nothing where there are none."""
    assert jaccard(significant_words(one), significant_words(other)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("score", "overlap", "expected"), [(0.7, 0.4, True), (0.69, 1.0, False), (0.99, 0.39, False)]
)
def test_both_are_needed(score: float, overlap: float, expected: bool) -> None:
    """Found by its title, and made of the same words."""
    assert is_duplicate(score, overlap) is expected
