"""Notes in order of date."""

from __future__ import annotations

from clawmem.app.services.retrieval.dates import newest_first

DATES = {1: "2026-04-19", 2: "2026-08-27", 3: "2026-06-12"}


def test_a_superseded_note_is_never_first() -> None:
    """Whatever its date, and also before notes that have no date of their own."""
    assert newest_first(DATES, superseded={2}) == [3, 1, 2]
    assert newest_first(DATES, superseded={3}, undated={2}) == [1, 2, 3]
