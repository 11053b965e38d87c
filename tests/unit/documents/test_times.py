from __future__ import annotations

import datetime

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


@given(st.text())
def test_reading_a_moment_never_raises(text: str) -> None:
    """Whatever stands there."""
    assert parse_iso(text) is None or isinstance(parse_iso(text), int)
