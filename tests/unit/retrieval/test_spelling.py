"""Which words of a question are corrected, and to what."""

from __future__ import annotations

import pytest

from clawmem.domain.retrieval.spelling import (
    Spelling,
    best_spelling,
    full_words,
    is_english_word,
    most_edits,
    with_corrections,
)


@pytest.mark.parametrize(
    ("query", "word", "edits"),
    [
        ("shedule of the choir", "shedule", 1),
        ("calibartion of a probe", "calibartion", 2),
        ("where is the wheat", "wheat", 0),  # an English word that is not in the vault
        ("what does Jolk do", "jolk", 0),  # a short name
        ("the rate of Triodoss", "triodoss", 1),  # a long name
        ("error qx7841b", "qx7841b", 0),
        ("wann probt der chor", "probt", 0),
        ("jly", "jly", 0),
    ],
)
def test_words_that_are_corrected(query: str, word: str, edits: int) -> None:
    """English words, identifiers, short words and names, and questions in other languages are not."""
    assert most_edits(word, query) == edits


def test_fewest_edits_then_most_documents() -> None:
    """A stored word that more documents contain wins between equals."""
    alike = {
        one.word: one for one in (Spelling("probe", 1, 9), Spelling("port", 1, 3), Spelling("prob", 2, 50))
    }

    assert best_spelling("porbe", "porb", alike) == "probe"
    assert best_spelling("porbe", "porb", {}) is None
    assert best_spelling("printf", "printf", {"print": Spelling("print", 1, 9)}) is None
    assert best_spelling("subagent", "subag", {"sugar": Spelling("sugar", 2, 9)}) is None
    assert best_spelling("subagent", "subagent", {"subagant": Spelling("subagant", 2, 9)}) == "subagant"


def test_four_letters_may_only_lack_one() -> None:
    """ "jely" is jelly, but not july."""
    july, jelly = Spelling("juli", 1, 9), Spelling("jelli", 1, 1)

    assert best_spelling("jely", "jeli", {"juli": july, "jelli": jelly}) == "jelli"


@pytest.mark.parametrize(
    ("word", "stem", "stored", "full"),
    [
        ("shedule", "shedul", "schedul", "schedule"),
        ("batery", "bateri", "batteri", "battery"),
        ("septembre", "septembr", "septemb", "september"),
        ("calibartion", "calibart", "vavre", "vavre"),
    ],
)
def test_the_full_word(word: str, stem: str, stored: str, full: str) -> None:
    """The index stores stems, but traces and vectors need the word."""
    assert full in full_words(word, stem, stored)[:2]


def test_corrections_in_the_text() -> None:
    """Only whole words are replaced, in any case."""
    assert with_corrections("Chior, chiors?", {"chior": "choir"}) == "choir, chiors?"


def test_the_dictionary() -> None:
    """It knows inflected words and British spellings, and no misspelt ones."""
    assert all(map(is_english_word, ("straightens", "organised", "plumber", "murky")))
    assert not any(map(is_english_word, ("shedule", "recieved", "chior", "moorgage")))
