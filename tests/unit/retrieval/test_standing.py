"""Notes that come after others that match alike: drafts, copies, clippings and overviews."""

from __future__ import annotations

import pytest

from clawmem.domain.retrieval.standing import FULL, SET_ASIDE, standing


@pytest.mark.parametrize(
    "path",
    "drafts/price.md work/Archive/rules.md inbox/todo.md meetings-copies/day.md home/schedule-copy.md".split(),
)
def test_notes_set_aside(path: str) -> None:
    """The folders count, and so does the file name; a word that only contains the name of a folder does not."""
    assert standing(path, (), "note", ("price",)) == SET_ASIDE
    assert standing("work/copyright.md", (), "note", ("price",)) == FULL
    assert standing("work/inboxes.md", (), "note", ("price",)) == FULL


def test_a_question_that_names_the_draft_finds_it() -> None:
    """In the singular or plural."""
    assert standing("drafts/price.md", (), "note", ("draft", "price")) == FULL
    assert standing("hub/home.md", (), "hub", ("hub", "home")) == FULL


def test_the_archive_answers_about_the_past() -> None:
    """A question for a former state may find it there; a draft never was the state."""
    assert standing("archive/rules.md", (), "note", ("rules",), of_the_past=True) == FULL
    assert standing("drafts/rules.md", (), "note", ("rules",), of_the_past=True) == SET_ASIDE
