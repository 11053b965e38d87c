from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.documents.times import authored_at, iso_utc, parse_iso

DAY_MS = 86_400_000
FIRST_MS = -62_135_596_800_000  # 0001-01-01T00:00:00.000Z
LAST_MS = 253_402_300_799_999  # 9999-12-31T23:59:59.999Z
ALL_MS = st.integers(FIRST_MS, LAST_MS)
MODIFIED = 1_800_000_000_000


def day(text: str) -> int:
    """Midnight UTC of an ISO day, by the standard library."""
    moment = datetime.datetime.fromisoformat(text).replace(tzinfo=datetime.UTC)
    return int(moment.timestamp()) * 1000


def authored(path: str = "a.md", *headings: str, declared: str | None = None) -> int:
    return authored_at(declared, path, headings, MODIFIED)


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (1_775_088_000_001, "2026-04-02T00:00:00.001Z"),
        (FIRST_MS, "0001-01-01T00:00:00.000Z"),
        (LAST_MS, "9999-12-31T23:59:59.999Z"),
    ],
)
def test_a_moment_is_written_with_t_and_z(ms: int, text: str) -> None:
    """Always three decimals and four digits of a year."""
    assert iso_utc(ms) == text


@pytest.mark.parametrize("ms", [FIRST_MS - 1, LAST_MS + 1, 10**30])
def test_a_moment_no_calendar_holds_is_refused(ms: int) -> None:
    """One millisecond past either end."""
    with pytest.raises(OverflowError):
        iso_utc(ms)


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
        "2026-04-02T10:30:00Z",
        "2026-04-02T10:30:00.000Z",
        "2026-04-02 10:30",
        "2026-04-02t10:30z",
        " 2026-04-02T10:30:00 ",
        "2026-04-02T12:30:00+02:00",
        "2026-04-02 12:30:00 +0200",
        "2026-04-02T12:30+02",
        "2026-04-02T07:00:00-03:30",
        "2026-04-02T10:30:00,0009Z",
    ],
)
def test_one_moment_has_many_spellings(text: str) -> None:
    """Blank or T, offset with or without colon, decimals beyond the millisecond cut off."""
    assert parse_iso(text) == day("2026-04-02") + 37_800_000


def test_a_day_alone_is_its_midnight() -> None:
    """In UTC."""
    assert parse_iso("2026-04-02") == day("2026-04-02")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026",
        "2026-04",
        "20260402",
        "2026-4-2",
        "2026/04/02",
        "2026-02-29",
        "2026-13-01",
        "0000-01-01",
        "2026-04-02T",
        "2026-04-02T10",
        "2026-04-02T24:00",
        "2026-04-02T10:60",
        "2026-04-02T10:30:60",
        "2026-04-02T10:30+24:00",
        "2026-04-02T10:30+02:60",
        "2026-04-02Z",
        "2026-W14-4",
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


def test_a_declared_date_comes_first() -> None:
    """Before the file name."""
    assert authored("2026-01-01.md", "## 2026-02-02", declared="2025-12-31") == day("2025-12-31")


def test_a_declaration_that_is_no_date_is_passed_over() -> None:
    """The file name is next."""
    assert authored("2026-01-01.md", declared="last spring") == day("2026-01-01")


@pytest.mark.parametrize(
    ("path", "date"),
    [
        ("journal/2026-04-02.md", "2026-04-02"),
        ("2026-04-02-sync.md", "2026-04-02"),
        ("notes_20260402T1030.md", "2026-04-02"),
        ("2026-04-summary.md", "2026-04-01"),
        ("2026-04.md", "2026-04-01"),
        ("2026-04-02/notes.md", "2026-04-02"),
        ("2025-01-01/2026-04/notes.md", "2026-04-01"),
        ("2025-01-01/2026-04-02.md", "2026-04-02"),
        ("2026-04-02-to-2026-04-09.md", "2026-04-02"),
        ("2026-05 draft of 2026-04-02.md", "2026-04-02"),
        ("2026-02-30 moved to 2026-03-01.md", "2026-03-01"),
        ("1970-01-01.md", "1970-01-01"),
        ("2100-12-31.md", "2100-12-31"),
        ("2024-02-29.md", "2024-02-29"),
    ],
)
def test_a_date_in_the_path_comes_next(path: str, date: str) -> None:
    """The file name before its folders, the nearest folder first, whole days before months."""
    assert authored(path, "## 2026-09-09") == day(date)


@pytest.mark.parametrize(
    "path",
    [
        "1969-12-31.md",
        "2101-01-01.md",
        "2026-02-30.md",
        "2023-02-29.md",
        "2026-13.md",
        "20261301.md",
        "120260402.md",
        "202604021.md",
        "2026-w22.md",
        "2026.md",
        "a2026-04b.md",
    ],
)
def test_digits_that_are_no_date_are_passed_over(path: str) -> None:
    """Days that do not exist, years out of range, longer runs of digits."""
    assert authored(path) == MODIFIED


def test_the_latest_heading_dates_a_running_log() -> None:
    """In whatever order the entries stand."""
    assert authored("log.md", "# Log", "## 2026-03-01 a", "## 2026-04-02", "## 2026-02-30") == day(
        "2026-04-02"
    )


def test_without_any_date_the_file_speaks() -> None:
    """Its time of modification, to the millisecond."""
    assert authored_at(None, "log.md", [], MODIFIED + 7) == MODIFIED + 7


def test_the_very_first_day_is_a_date_like_others() -> None:
    """Zero milliseconds are not mistaken for nothing."""
    assert authored("log.md", declared="1970-01-01") == 0


@given(st.dates(datetime.date(1970, 1, 1), datetime.date(2100, 12, 31)))
def test_every_day_in_range_is_found(date: datetime.date) -> None:
    """In either spelling."""
    expected = (date - datetime.date(1970, 1, 1)).days * DAY_MS

    assert authored(f"x/{date} y.md") == authored(f"x/{date:%Y%m%d}.md") == expected
