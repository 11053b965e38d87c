"""Which documents fit what somebody typed, and how well."""

from __future__ import annotations

import pytest

from clawmem.contracts.samples import document
from clawmem.domain.lifecycle.marks import is_code, marks_of, sentences_of
from clawmem.domain.lifecycle.target import bounded, by_path, by_title, is_path, least_held

BOATS = [document(f"boats/{n}.md", title=f"Boat number {n}") for n in range(7)]


def test_paths_lose_a_twentieth_each() -> None:
    """The first five that hold the text, each .05 below the one before; case does not matter."""
    found = by_path("BOATS/", [document("other.md"), *BOATS])

    assert [match.document.path for match in found] == [f"boats/{n}.md" for n in range(5)]
    assert [match.score for match in found] == pytest.approx([1.0, 0.95, 0.9, 0.85, 0.8])


@pytest.mark.parametrize(
    ("query", "expected"), [("a/b", True), ("notes.md", True), ("the md", False), ("notes", False)]
)
def test_what_reads_as_a_path(query: str, expected: bool) -> None:
    """A slash, or the ending of a note."""
    assert is_path(query) is expected


@pytest.mark.parametrize(("count", "least"), [(1, 2), (2, 2), (4, 2), (5, 3), (6, 3), (9, 5)])
def test_half_of_the_words(count: int, least: int) -> None:
    """Rounded up, and at least two."""
    assert least_held(count) == least


def test_titles() -> None:
    """The share of the words that a title holds, best first; too few are none."""
    found = by_title("boat number three of five", [*BOATS, document(title="Number three of the boat")])

    assert [(match.document.title, match.score) for match in found] == [("Number three of the boat", 4 / 5)]
    assert by_title("boat", BOATS) == []


def test_a_bounded_score_grows() -> None:
    """Never constant, never one: a better hit scores higher, however high both are."""
    scores = [bounded(score) for score in (0.0, 0.1, 1.0, 2.33, 10.0, 100.0)]

    assert scores == sorted(set(scores))
    assert scores[2] == 0.5
    assert scores[-1] < 1


def test_marks() -> None:
    """The longest words that are theirs alone; short ones and those of a place are none."""
    theirs = {"zqx7419wobble", "harbour", "office", "safe", "lighthouse"}
    texts = ["The zqx7419wobble of the harbour", "Lighthouse safe office"]

    found = marks_of(texts, "notes/harbour.md", lambda word: word.lower() in theirs)

    assert found == ["zqx7419wobble", "Lighthouse", "office"]
    assert len(marks_of(["".join(f"word{n}x " for n in range(20))], "", lambda word: True)) == 8


def test_sentences() -> None:
    """Lines and sentences of four words or more, as they are written."""
    text = "# Safe\n\nThe code is 7. Ann keeps the key!\n- one two three\n"

    assert sentences_of(text) == ["The code is 7.", "Ann keeps the key!"]


@pytest.mark.parametrize(("word", "expected"), [("zqx74", True), ("office", False), ("2026", False)])
def test_codes(word: str, expected: bool) -> None:
    """Letters and digits together."""
    assert is_code(word) is expected
