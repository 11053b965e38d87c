"""Which words of a question are corrected, and to what."""

from __future__ import annotations

import pytest

from clawmem.domain.text.spelling import compound_parts, full_words, with_corrections


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
