from __future__ import annotations

from datetime import UTC, date, timedelta, timezone
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.documents.times import parse_iso
from clawmem.domain.text.dates import MAX_START, TimeRange, coming_days, temporal_range, time_named

MONTHS = [f"{date(2025, month, 1):%B}" for month in range(1, 13)]
WEEKDAYS = [f"{date(2025, 3, day):%A}" for day in range(3, 10)]
NOW = 1_742_398_200_000  # Wednesday, 19 March 2025, 15:30 UTC
DAY = 86_400_000

PIECES = """
today yesterday last this past since before after until between from to and in on the of a few couple week month
year quarter weekend days ago early second end 9999 March may Jan. 2025 1984 2025-03 2025-03-04 4th 4 31 Q3 spring Friday , . - ’24 "
""".split()
SENTENCES = st.lists(st.sampled_from(PIECES), max_size=8).map(" ".join)
MOMENTS = st.integers(parse_iso("1990-01-01") or 0, parse_iso("2099-12-31") or 0)
OFFSETS = st.integers(-14 * 60, 14 * 60)
DATES = st.dates(date(1970, 1, 1), date(2100, 12, 31))


def read(query: str, now_ms: int = NOW, offset: int = 0) -> TimeRange:
    found = temporal_range(query, now_ms=now_ms, zone=timezone(timedelta(minutes=offset)))
    assert found is not None, query
    return found


def ends(query: str, now_ms: int = NOW, offset: int = 0) -> tuple[int | None, int | None]:
    """The two ends in milliseconds."""
    found = read(query, now_ms, offset)
    texts = (found.authored_from, found.authored_until)
    return tuple(None if text is None else parse_iso(text) for text in texts)  # type: ignore[return-value]


def closed(query: str, now_ms: int = NOW, offset: int = 0) -> tuple[int, int]:
    """The two ends of what is open on no side."""
    begin, end = ends(query, now_ms, offset)
    assert begin is not None
    assert end is not None
    return begin, end


def midnight(day: date) -> int:
    return (day - date(1970, 1, 1)).days * DAY


@given(st.text() | SENTENCES, MOMENTS, OFFSETS)
def test_nothing_that_is_typed_fails_and_nothing_empty_is_read(query: str, now_ms: int, offset: int) -> None:
    """What is read has a beginning before its end, stands in the text, and is open on one side at most."""
    found = temporal_range(query, now_ms=now_ms, zone=timezone(timedelta(minutes=offset)))
    coming_days(f"in {query}", now_ms=now_ms)
    if found is None:
        return

    assert 0 <= found.start < found.end <= len(query)
    assert found.authored_from or found.authored_until
    if found.authored_from and found.authored_until:
        assert found.authored_from < found.authored_until
    assert all(parse_iso(text) is not None for text in (found.authored_from, found.authored_until) if text)


@given(SENTENCES)
def test_what_was_read_as_time_reads_the_same_alone(query: str) -> None:
    """The span is all that the answer rests on."""
    found = temporal_range(query, now_ms=NOW)
    if found is None:
        return
    alone = read(query[found.start : found.end])

    assert (alone.authored_from, alone.authored_until) == (found.authored_from, found.authored_until)


@given(SENTENCES, st.sampled_from(["  ", "\t", "\n", "\u00a0"]))
def test_case_and_white_space_are_free(query: str, gap: str) -> None:
    """Words of a phrase may be in capitals and apart by any white space."""
    query = query.replace("days", "day")  # "in 2025 days" counts days; a name in capitals is not counted
    plain = temporal_range(query.lower(), now_ms=NOW)
    changed = temporal_range(query.upper().replace(" ", gap), now_ms=NOW)

    assert (plain is None) is (changed is None)
    if plain and changed:
        assert (plain.authored_from, plain.authored_until) == (changed.authored_from, changed.authored_until)


@pytest.mark.parametrize(
    "form",
    """
{0:%Y-%m-%d}
{0:%Y/%m/%d}
what was on {0:%B} {0.day}, {0.year}?
{0.day} {0:%B} {0.year}
the {0.day}th of {0:%b} {0.year}
{0:%A}, {0:%B} {0.day} {0.year}
""".strip().splitlines(),
)
@given(day=DATES, offset=OFFSETS)
def test_an_explicit_date_is_that_day_of_the_asker(form: str, day: date, offset: int) -> None:
    """However it is written and whatever day it is: from its midnight to the next on the asker's clock."""
    begin = midnight(day) - offset * 60_000
    if day == date(1970, 1, 1) and offset > 0:
        return

    assert closed(form.format(day), NOW, offset) == (begin, begin + DAY)


@given(DATES)
def test_a_month_and_a_year_are_all_of_their_days(day: date) -> None:
    """The first day of the next one is outside."""
    first = day.replace(day=1)
    next_first = (first + timedelta(days=31)).replace(day=1)
    months = (midnight(first), midnight(next_first))

    assert closed(f"in {day:%B} {day.year}") == months
    assert closed(f"{day.year}-{day.month:02}") == months
    assert closed(f"in {day.year}") == (midnight(date(day.year, 1, 1)), midnight(date(day.year + 1, 1, 1)))


@given(st.integers(1970, 2100))
def test_quarters_and_halves_make_up_the_year(year: int) -> None:
    """Each begins where the one before it ends."""
    quarters = [closed(f"Q{number} {year}") for number in (1, 2, 3, 4)]
    halves = [closed(f"the {ordinal} half of {year}") for ordinal in ("first", "second")]

    assert [quarters[0][0], *(end for _, end in quarters)][::2] == [halves[0][0], halves[0][1], halves[1][1]]
    assert (quarters[0][0], quarters[3][1]) == closed(f"in {year}")
    assert all(before[1] == after[0] for before, after in pairwise(quarters))


@given(MOMENTS, OFFSETS)
def test_this_holds_the_moment_and_last_ends_before_this(now_ms: int, offset: int) -> None:
    """Months, quarters and years follow one another without a gap; each holds today."""
    for unit in ("month", "quarter", "year"):
        begin, end = closed(f"this {unit}", now_ms, offset)
        assert begin <= now_ms < end
        assert closed(f"last {unit}", now_ms, offset)[1] == begin
        assert (
            closed(f"the {unit} before last", now_ms, offset)[1] == closed(f"last {unit}", now_ms, offset)[0]
        )


@given(MOMENTS, OFFSETS)
def test_what_is_going_on_holds_today(now_ms: int, offset: int) -> None:
    """Today lies in this week, in any last days, and yesterday ends where it begins; last week is before this week."""
    begin, end = closed("today", now_ms, offset)

    assert end - begin == DAY
    assert closed("yesterday", now_ms, offset) == (begin - DAY, begin)
    assert closed("last week", now_ms, offset)[1] == closed("this week", now_ms, offset)[0]
    for wider in ("this week", "last 3 days", "past month", "since yesterday", "this year"):
        wide_begin, wide_end = closed(wider, now_ms, offset)
        assert wide_begin <= begin <= now_ms < end <= wide_end


@given(st.integers(1, 200), st.sampled_from(["day", "week", "month"]), MOMENTS)
def test_more_ago_is_earlier_and_more_last_is_longer(count: int, unit: str, now_ms: int) -> None:
    """Both ends move back with "N ago", which is a day where it is asked for, and the beginning alone with "last N"."""
    near, far = (closed(f"{n} {unit}s ago", now_ms) for n in (count, count + 1))
    short, long = (closed(f"last {n} {unit}s", now_ms) for n in (count, count + 1))

    typed = time_named(f"{count} {unit}s ago", now_ms=now_ms)
    assert typed and typed.is_day and read(f"{count} {unit}s ago", now_ms)[0] <= str(typed.authored_from)
    assert far[0] < near[0] and far[1] < near[1]
    assert long[0] < short[0] and long[1] == short[1]


@given(DATES.filter(lambda day: day.year < 2025))
def test_bounds_meet(day: date) -> None:
    """Before and since part the time at the beginning of a day, until and after at its end."""
    first, after = closed(f"{day}")

    assert ends(f"since {day}")[0] == first
    assert ends(f"after {day}")[0] == after
    assert ends(f"until {day}") == (None, after)
    if day > date(1970, 1, 1):
        assert ends(f"before {day}") == (None, first)


@given(DATES, DATES)
def test_from_one_day_to_another_holds_both(one: date, other: date) -> None:
    """In whichever order they are said."""
    expected = (midnight(min(one, other)), midnight(max(one, other)) + DAY)

    assert closed(f"from {one} to {other}") == expected
    assert closed(f"between {other} and {one}") == expected


@given(st.sampled_from([f"in {name}" for name in MONTHS] + [f"on {name}" for name in WEEKDAYS]), MOMENTS)
def test_what_has_no_year_has_begun(query: str, now_ms: int) -> None:
    """It is the last such month or day, today's included, and less than a year or a week old."""
    begin, _ = closed(query, now_ms)

    assert begin <= now_ms < begin + (7 if query.startswith("on") else 366) * DAY


@pytest.mark.parametrize(
    ("moment", "is_inside"),
    [
        ("2025-03-17T23:59:59.999Z", False),
        ("2025-03-18T00:00:00.000Z", True),
        ("2025-03-18T23:59:59.999Z", True),
        ("2025-03-19T00:00:00.000Z", False),
    ],
)
def test_a_day_holds_its_moments(moment: str, is_inside: bool) -> None:
    """A time begins with its first moment and ends before the first one after it."""
    assert read("what happened yesterday").has_day_of(moment, UTC) is is_inside


@pytest.mark.parametrize(("before", "is_read"), [(MAX_START - 1, True), (MAX_START, False)])
def test_what_begins_late_is_not_read(before: int, is_read: bool) -> None:
    """The time that a question is about does not stand in a page pasted below it."""
    assert (temporal_range(" " * before + "yesterday", now_ms=NOW) is not None) is is_read


def test_a_moment_outside_of_the_calendar_is_refused() -> None:
    """There are years 1 to 9999."""
    with pytest.raises(OverflowError):
        temporal_range("today", now_ms=10**18)
