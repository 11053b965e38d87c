"""Notes that come after others that match alike: drafts, copies, clippings and overviews."""

from __future__ import annotations

import pytest

from clawmem.domain.retrieval.calibrated import FULL, SET_ASIDE, standing


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
    assert standing("offer-draft.md", (), "note", ("draft", "price")) == FULL
    assert standing("hub/home.md", (), "hub", ("hub", "home")) == FULL
