"""Dates as people write them."""

from __future__ import annotations

import datetime

from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.text.written_dates import authored_at, formatted_day

DAY_MS = 86_400_000


@given(st.dates(datetime.date(1970, 1, 1), datetime.date(2100, 12, 31)))
def test_every_day_in_range_is_found(date: datetime.date) -> None:
    """In either spelling."""
    expected = (date - datetime.date(1970, 1, 1)).days * DAY_MS

    assert {authored_at(None, f"x/{date:{form}} y.md", [], 0) for form in ("%Y-%m-%d", "%Y%m%d")} == {
        expected
    }


def test_days_in_a_format_of_numbers() -> None:
    """Only where the day could not be read otherwise."""
    assert formatted_day("2026_03_09", "EEE, dd-MM-yyyy") == "Mon, 09-03-2026"
    assert not any(formatted_day("2026-03-09", form) for form in ("", "yyyy/MM/dd", "MMM do, yyyy"))
