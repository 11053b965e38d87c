"""Notes that come after others that match alike: drafts, copies, clippings and overviews."""

from __future__ import annotations

import pytest

from clawmem.contracts.samples import document
from clawmem.domain.retrieval.calibrated import FULL, SET_ASIDE, standing


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
