"""Dates as people write them."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.documents.times import iso_utc
from clawmem.domain.text.written_dates import authored_at, day_at_opening, formatted_day, written_time

DAY_MS = 86_400_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024/05/03", "2024-05-03T00:00"),
        ("20240503", "2024-05-03T00:00"),
        ("2024/05/03 14:20", "2024-05-03T00:00"),
        ("May 3, 2024", "2024-05-03T00:00"),
        ("15 May 2024", "2024-05-15T00:00"),
        ("8. Mai 2024", "2024-05-08T00:00"),
        ("3 de mayo de 2024", "2024-05-03T00:00"),
        ("08.05.2024", "2024-05-08T00:00"),
        ("2024-05", "2024-05-01T00:00"),
        ("[[2024-05-05]]", "2024-05-05T00:00"),
        ("May 3, 2024 3:15 pm", "2024-05-03T00:00"),
        ("2024-05-03 12:05 AM", "2024-05-03T00:00"),
        ("Sunday, May 12th 2024, 9:15:03 pm", "2024-05-12T00:00"),
        ("1714720000", "2024-05-03T07:06"),
        ("1714720000000", "2024-05-03T07:06"),
    ],
)
def test_dates_of_front_matter(text: str, expected: str) -> None:
    """A time of day counts in ISO 8601 alone."""
    ms = written_time(text)

    assert ms is not None and iso_utc(ms)[:16] == expected


@pytest.mark.parametrize(
    "name",
    [
        "2026_03_08.md",
        "journals/2026_03_08.md",
        "2026.03.08 Visit.md",
        "202603081530 Visit.md",
        "20260308153012.md",
        "Visit 08.03.2026.md",
        "March 8th, 2026.md",
        "2026-03-08/visit.md",
    ],
)
def test_dates_of_file_names(name: str) -> None:
    """In the forms of journals, slip boxes and people."""
    assert iso_utc(authored_at(None, name, [], 0))[:10] == "2026-03-08"


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
