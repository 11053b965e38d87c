"""What is said again and again."""

from __future__ import annotations

from clawmem.domain.briefing.blocks import LEAST, Phrase, repeated_phrases


def test_three_times_is_often() -> None:
    """A phrase counts in every text; one that is in two is none."""
    texts = ["Signed cookies expire.", "Use signed cookies!", "signed COOKIES", "slot hold", "slot hold"]

    assert repeated_phrases(texts) == [Phrase("signed cookies", 3)]


def test_a_text_counts_once() -> None:
    """A note has its sentence three times, and what it answers belongs to no phrase."""
    note = "{0}\n# {0}\n\nIn answer to: Which static generator?\n\n> {0}\n"
    texts = [note.format(text) for text in ("We ship Hugo pages", "We keep Postgres tables", "We drop Redis")]

    assert repeated_phrases(texts) == []


def test_small_words_do_not_part_a_phrase() -> None:
    """Stop words and words of up to three letters are passed over, and no phrase goes from one text to the next."""
    assert repeated_phrases(["move it to the cold store"] * LEAST) == [
        Phrase("move cold store", 3),
        Phrase("cold store", 3),
        Phrase("move cold", 3),
    ]
    assert repeated_phrases(["alpha", "beta"] * 9) == []
