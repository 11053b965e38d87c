"""Dates as people write them."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.documents.times import iso_utc
from clawmem.domain.text.written_dates import authored_at, day_at_opening, formatted_day

DAY_MS = 86_400_000


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("# Key box\n\n16 Feb 2026. The number is 9035 now.", "2026-02-16"),
        ("Datum: 16.02.2026\n\nText", "2026-02-16"),
        ("Monday, 16 February 2026, with Jo", "2026-02-16"),
        ("deadline:: [[2026-02-16]]\nText", "1970-01-01"),
        ("expires: 2026-02-16", "1970-01-01"),
        ("- [[2026-02-16]] call Jo", "1970-01-01"),
        ("2200-02-16 is far away", "1970-01-01"),
        ("> [!note]\n> * ( - ", "1970-01-01"),
        ("Leipzig, 16 Feb 2026\nDear Jo", "2026-02-16"),
        ("Besuch bei Dr. Jo am 16.2.26\n\nText", "2026-02-16"),
        ("# Key\n\nvalid from 16 Feb 2026\n\nText", "1970-01-01"),
        ("Mo 16.2.26: the number is 9035", "2026-02-16"),
        ("16/2/26. Went up to oil it, and stood there", "2026-02-16"),
        ("3/2/2026, the box would not open today", "1970-01-01"),  # of February or March
        ("Born 16 Feb 1986 in Kiel, moved to Leipzig", "1970-01-01"),
        ("Text\n\n16 Feb 2026 is Monday.", "1970-01-01"),
    ],
)
def test_a_day_that_opens_the_text(body: str, expected: str) -> None:
    assert iso_utc(authored_at(None, "key.md", [day_at_opening(body, 2**42)], 0))[:10] == expected


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
