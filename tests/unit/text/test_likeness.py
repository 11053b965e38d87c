"""Detection of a text that a note states already."""

from __future__ import annotations

import pytest

from clawmem.domain.text.likeness import has_words, is_same_word, restating_line

LONG = (
    "The boiler in the cellar was serviced by Okafor, who cleaned the burner, set the pressure to 1.4 bar and asked us "
    "to call again before the winter begins."
)


@pytest.mark.parametrize(
    ("text", "body", "line"),
    [
        ("The ferry leaves at dawn.", "\nThe ferry leaves at dawn\n", 2),
        ("the ferry LEAVES at dawn", "# Ferry\n\nBring a coat.\n- The ferry leaves at dawn!\n", 4),
        (LONG.replace("cleaned", "has cleaned"), f"# Boiler\n\n{LONG}\n", 3),
        (f"{LONG}\n\nBring a coat.", f"{LONG}\n\nBring a coat.", 1),
        ("👍", "Well done\n\n👍\n", 3),
        (LONG.replace("1.4", "1.6"), LONG, None),
        ("The ferry leaves at dusk.", "The ferry leaves at dawn.", None),
        ("The ferry leaves.", "The ferry leaves from the northern harbour at dawn on every day of the week.", None),
        ("The ferry leaves at dawn.", "", None),
        ("👍", "👎", None),
        ("I like C.", "I like C++.", None),
        ("It is -5 degrees.", "It is 5 degrees.", None),
        ("It costs 50 €.", "It costs 50 $.", None),
        ("Keep x > 5.", "Keep x < 5.", None),
        ("Bring a coat.", "> Bring a coat.\n", 1),
        ("The burner costs 4.50 €.", f"# Boiler\n\n{LONG} The burner\ncosts 4.50 €! Ask Okafor.\n", 3),
        ("Ask Okafor first. Call the office.", f"{LONG}\n\nIt leaks. Ask Okafor first. Call the office. {LONG}", 3),
        ("Ask Okafor.", f"{LONG} Do not ask Okafor. {LONG}", None),
        ("The burner costs 4.50 €.", f"{LONG} The burner costs 4.60 €. {LONG}", None),
        ("The burner costs 450.", f"{LONG} The burner costs 450 €. {LONG}", None),
        ("Never do that.", f"{LONG} Never. Do that. {LONG}", None),
    ],
    ids=["marks", "a line of a list", "one more word", "paragraphs", "no word", "another number", "another word",
         "more than that", "nothing", "other signs", "a name with signs", "below zero", "another currency",
         "another comparison", "a quotation", "a sentence", "two sentences", "part of a sentence",
         "another number in a sentence", "another sign in a sentence", "words of two sentences"],
)  # fmt: skip
def test_a_text_is_restated_by_a_line_a_paragraph_or_a_note(text: str, body: str, line: int | None) -> None:
    """Marks, blanks and capitals do not count; another number does, however long the text is."""
    assert restating_line(text, body) == line


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("roof", "roofs", True),
        ("heat", "heating", True),
        ("decision", "decisions", True),
        ("key", "keys", True),
        ("lake", "land", False),
        ("car", "cargo", False),
        ("port", "portfolio", False),
    ],
)
def test_forms_of_a_word_share_their_stem(one: str, other: str, same: bool) -> None:
    """Short words must be equal but for a plural s, and endings are short."""
    assert is_same_word(one, other) is is_same_word(other, one) is same


def test_a_text_has_a_word_in_any_form() -> None:
    """Diacritics do not count, and a word of two letters must be equal."""
    assert has_words(["café", "ph", "roof", "raft"], "The cafe measured pH; roofs leak.") == [
        True,
        True,
        True,
        False,
    ]
