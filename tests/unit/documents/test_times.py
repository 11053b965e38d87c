from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.documents.times import iso_utc, parse_iso

FIRST_MS = -62_135_596_800_000  # 0001-01-01T00:00:00.000Z
LAST_MS = 253_402_300_799_999  # 9999-12-31T23:59:59.999Z
ALL_MS = st.integers(FIRST_MS, LAST_MS)


@given(ALL_MS)
def test_what_is_written_is_read_back(ms: int) -> None:
    """To the millisecond."""
    assert parse_iso(iso_utc(ms)) == ms


@given(ALL_MS, ALL_MS)
def test_written_moments_sort_as_they_happened(one: int, other: int) -> None:
    """So that texts in a database may be compared."""
    assert (iso_utc(one) < iso_utc(other)) == (one < other)


@given(st.datetimes(timezones=st.none() | st.just(datetime.UTC)))
def test_the_standard_librarys_texts_are_read(moment: datetime.datetime) -> None:
    """With no zone meaning UTC; microseconds are cut off."""
    naive = moment.replace(tzinfo=None)
    expected = (naive - datetime.datetime(1970, 1, 1)) // datetime.timedelta(milliseconds=1)

    assert parse_iso(moment.isoformat()) == parse_iso(str(moment)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026",
        "2026-04",
        "2026-4-2",
        "2026/04/02",
        "2026-02-29",
        "2026-13-01",
        "0000-01-01",
        "2026-04-02T",
        "2026-04-02T24:00",
        "2026-04-02T10:60",
        "2026-04-02T10:30:60",
        "2026-04-02T10:30+24:00",
        "2026-04-02Z",
        "٢٠٢٦-٠٤-٠٢",
        "9999-12-31T23:59:59-01:00",
        "0001-01-01T00:00:00+01:00",
        "on 2026-04-02",
    ],
)
def test_what_is_no_moment_is_none(text: str) -> None:
    """Days and hours that do not exist, other formats, moments outside the calendar."""
    assert parse_iso(text) is None


@given(st.text())
def test_reading_a_moment_never_raises(text: str) -> None:
    """Whatever stands there."""
    assert parse_iso(text) is None or isinstance(parse_iso(text), int)
