"""Notes that come after others that match alike: drafts, copies, clippings, overviews and notes of a day."""

from __future__ import annotations

import pytest

from clawmem.contracts.samples import document
from clawmem.domain.retrieval.calibrated import FULL, SET_ASIDE, is_of_a_day, standing


@pytest.mark.parametrize(
    "path",
    "drafts/price.md work/Archive/rules.md inbox/todo.md meetings-copies/day.md home/schedule-copy.md".split(),
)
def test_notes_set_aside(path: str) -> None:
    """The folders count, and so does the file name; a word that only contains the name of a folder does not."""
    assert standing(document(path), ("price",)) == SET_ASIDE
    assert standing(document("work/copyright.md"), ("price",)) == FULL
    assert standing(document("work/inboxes.md"), ("price",)) == FULL


def test_a_question_that_names_the_draft_finds_it() -> None:
    assert standing(document("offer-draft.md"), ("draft", "price")) == FULL
    assert standing(document("hub/home.md", content_type="hub"), ("hub", "home")) == FULL


def test_a_note_of_a_day_is_named_by_it_alone() -> None:
    of_a_day = {"daily/2026-10-13.md": "2026-10-13", "journals/2026_03_08.md": "Mar 8th, 2026"}
    others = {"lab/2026-10-13.md": "Supervision 13 Oct 2026", "2026-10-13 rent.md": "2026-10-13"}
    assert all(is_of_a_day(document(path, title=title)) for path, title in of_a_day.items())
    assert not any(is_of_a_day(document(path, title=title)) for path, title in others.items())
