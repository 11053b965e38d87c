"""Which words of a question are corrected, and to what."""

from __future__ import annotations

import pytest

from clawmem.domain.text.spelling import best_spelling, compound_parts, full_words, with_corrections


@pytest.mark.parametrize(
    ("word", "stem", "stored", "documents", "is_meant"),
    [
        ("porbe", "porb", "probe", 9, True),
        ("porbe", "porb", "probe", 1, False),  # of one note alone: maybe a misspelling itself
        ("house", "hous", "hors", 9, False),
        ("wheat", "wheat", "whatqx", 9, False),
        ("jolk", "jolk", "joke", 9, False),
        ("qx7841b", "qx7841b", "qx784lb", 9, False),
        ("printf", "printf", "print", 9, False),
        ("subagent", "subag", "sugar", 9, False),
        ("subagent", "subagent", "subagant", 9, True),
    ],
)
def test_slips_are_corrected(word: str, stem: str, stored: str, documents: int, is_meant: bool) -> None:
    """A short word differs by a letter too many or too few, or by two letters in the wrong order."""
    assert (best_spelling(word, stem, {stored: documents}) == stored) is is_meant


def test_fewest_edits_then_most_documents() -> None:
    """A stored word that more documents contain wins between equals."""
    assert best_spelling("porbe", "porb", {"probe": 9, "prob": 3}) == "probe"


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


def test_a_compound_has_two_words() -> None:
    assert ("ruder", "training") in compound_parts("rudertraining")
    assert ("arbeit", "zimmer") in compound_parts("arbeitszimmer")
    assert list(compound_parts("zimmer")) == []
