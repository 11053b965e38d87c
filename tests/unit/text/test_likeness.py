"""Detection of a text that a note states already."""

from __future__ import annotations

from clawmem.domain.text.likeness import has_words


def test_a_text_has_a_word_in_any_form() -> None:
    """Diacritics do not count, and a word of two letters must be equal."""
    assert has_words(["café", "ph", "roof", "raft"], "The cafe measured pH; roofs leak.") == [
        True,
        True,
        True,
        False,
    ]
