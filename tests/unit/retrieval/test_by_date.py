"""Questions for the newest note, and for the records of a named time."""

from __future__ import annotations

import pytest

from clawmem.domain.retrieval.by_date import (
    LEAST_COVERAGE,
    about_topic,
    asks_for_records,
    is_own_deed,
    matching,
    names_the_same,
    newest_first,
    period_name,
)
from clawmem.domain.text.dates import TimeRange, temporal_range

NOW_MS = 1_785_500_000_000  # 31 July 2026


def _named(question: str) -> TimeRange:
    named = temporal_range(question, now_ms=NOW_MS)
    assert named is not None
    return named


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("notes about bees from two months ago", True),
        ("decisions taken in June", True),
        ("what did I write about money in June", True),
        ("where were we in April", True),
        ("what broke in March", True),
        ("what did Caroline paint in June", False),
        ("what does the lease say about June 2026", False),
    ],
)
def test_questions_for_records(question: str, asks: bool) -> None:
    """The user's own deeds and kinds of notes; the deeds of others may be in later notes."""
    assert asks_for_records(question, _named(question)) is asks


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("what happened on 17 January 2026", "2026-01-17"),
        ("what happened in March", "2026-03"),
        ("what happened in February 2024", "2024-02"),
        ("what happened in 2025", "2025"),
        ("what happened last week", ""),
        ("what happened in summer 2025", ""),
    ],
)
def test_the_diary_of_a_period(question: str, name: str) -> None:
    """Days, calendar months and years have one; other times have none."""
    assert period_name(_named(question)) == name


@pytest.mark.parametrize(
    ("question", "topic", "is_alone"),
    [
        ("what did I sand in March", ("sand",), True),
        ("what did I sand on the boat in March", ("sand", "boat"), False),
        ("what did Joost sand in March", ("sand",), False),
    ],
)
def test_a_verb_alone_is_no_topic(question: str, topic: tuple[str, ...], is_alone: bool) -> None:
    """Every note of a time may tell of an own deed that none of them names."""
    assert is_own_deed(question, topic) is is_alone


def test_notes_about_the_topic() -> None:
    """A third of the topic is enough if no note covers more than twice as much."""
    assert about_topic({1: 0.34, 2: 0.6, 3: 0.1}) == {1, 2}
    assert about_topic({1: 0.34, 2: 0.7}) == {2}
    assert about_topic({1: 0.33}) == set()


DATES = {1: "2026-04-19", 2: "2026-08-27", 3: "2026-06-12"}


def test_a_superseded_note_is_never_first() -> None:
    """Whatever its date, and also before notes that have no date of their own."""
    assert newest_first(DATES, superseded={2}) == [3, 1, 2]
    assert newest_first(DATES, superseded={3}, undated={2}) == [1, 2, 3]


def test_notes_match_that_cover_the_topic_as_well_as_the_best() -> None:
    """Half of the topic is another topic, and so is the best where it covers too little."""
    assert matching({1: 1.0, 2: 0.95, 3: 0.6}) == {1, 2}
    assert matching({1: LEAST_COVERAGE - 0.01}) == set()
    assert matching({}) == set()


def test_folders_are_named_in_the_singular_or_the_plural() -> None:
    """Whatever the case; a word that ends in ss is no plural."""
    assert names_the_same("meeting", "Meetings")
    assert names_the_same("entries", "entry")
    assert not names_the_same("glass", "gla")
