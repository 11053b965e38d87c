"""Dates as people write them."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.documents.dating import authored_at, written_time
from clawmem.domain.documents.times import iso_utc

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


@given(st.dates(datetime.date(1970, 1, 1), datetime.date(2100, 12, 31)))
def test_every_day_in_range_is_found(date: datetime.date) -> None:
    """In either spelling."""
    expected = (date - datetime.date(1970, 1, 1)).days * DAY_MS

    assert {authored_at(None, f"x/{date:{form}} y.md", [], 0) for form in ("%Y-%m-%d", "%Y%m%d")} == {
        expected
    }
