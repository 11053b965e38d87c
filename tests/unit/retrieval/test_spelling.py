"""Which words of a question are corrected, and to what."""

from __future__ import annotations

import pytest

from clawmem.domain.retrieval.spelling import (
    Spelling,
    best_spelling,
    full_words,
    most_edits,
    with_corrections,
)


@pytest.mark.parametrize(
    ("word", "edits"), [("shedule", 1), ("calibartion", 2), ("jolk", 0), ("qx7841b", 0), ("für", 0)]
)
def test_words_that_are_corrected(word: str, edits: int) -> None:
    """Identifiers and short words are not."""
    assert most_edits(word, word) == edits


@pytest.mark.parametrize(
    ("word", "stem", "stored", "is_meant"),
    [
        ("porbe", "porb", Spelling("probe", 1, 9), True),
        ("porbe", "porb", Spelling("probe", 1, 1), False),  # of one note alone: maybe a misspelling itself
        ("house", "hous", Spelling("hors", 1, 9), False),
        ("wheat", "wheat", Spelling("what", 1, 9), False),
        ("printf", "printf", Spelling("print", 1, 9), False),
        ("subagent", "subag", Spelling("sugar", 2, 9), False),
        ("subagent", "subagent", Spelling("subagant", 2, 9), True),
    ],
)
def test_slips_are_corrected(word: str, stem: str, stored: Spelling, is_meant: bool) -> None:
    """A short word differs by a letter too many or too few, or by two letters in the wrong order."""
    assert (best_spelling(word, stem, {stored.word: stored}) == stored.word) is is_meant


def test_fewest_edits_then_most_documents() -> None:
    """A stored word that more documents contain wins between equals."""
    alike = {s.word: s for s in (Spelling("probe", 1, 9), Spelling("prob", 1, 3), Spelling("pore", 2, 50))}

    assert best_spelling("porbe", "porb", alike) == "probe"


@pytest.mark.parametrize(
    ("word", "stem", "stored", "full"),
    [("shedule", "shedul", "schedul", "schedule"), ("batery", "bateri", "batteri", "battery")],
)
def test_the_full_word(word: str, stem: str, stored: str, full: str) -> None:
    """The index stores stems, but traces and vectors need the word."""
    assert full_words(word, stem, stored)[0] == full


def test_corrections_in_the_text() -> None:
    """Only whole words are replaced, in any case."""
    assert with_corrections("Chior, chiors?", {"chior": "choir"}) == "choir, chiors?"
