"""Ranges of whole days, computed from the calendar. Weeks begin on Sunday; seasons are northern."""

from collections.abc import Callable
from datetime import date, datetime, timedelta
from types import MappingProxyType
from typing import NamedTuple

from clawmem.domain.documents.times import FIRST_YEAR

ONE_DAY = timedelta(days=1)
FIRST_DAY = date(FIRST_YEAR, 1, 1)  # no note has an earlier date
SATURDAY = 5  # as `date.weekday` counts
LEAP_YEARS_APART = 8  # longest distance between two 29 February

FIRST_MONTH = MappingProxyType({"spring": 3, "summer": 6, "fall": 9, "autumn": 9, "winter": 12})

# "Three weeks ago" means a week, not a day: half of a unit, in days, is added on both sides of the day.
REACH_DAYS = MappingProxyType({"minute": 0, "hour": 0, "day": 0, "week": 3, "month": 15, "year": 182})

_UNITS = MappingProxyType(
    {"minute": timedelta(minutes=1), "hour": timedelta(hours=1), "day": ONE_DAY, "week": 7 * ONE_DAY}
)


class Days(NamedTuple):
    """The days from ``first`` up to, but not including, ``after``."""

    first: date
    after: date


class Calendar(NamedTuple):
    """
    The time and day of the question, in the local time of the user.

    ``latest`` is the day by which a name without a year ("March", "Tuesday") has begun. It is today, except for the
    first name in "between March and May", for which it is the beginning of May.
    """

    now: datetime
    latest: date

    @property
    def day(self) -> date:
        """The day of the question."""
        return self.now.date()


def one_day(first: date) -> Days:
    """Return *first* alone."""
    return Days(first, first + ONE_DAY)


def around(middle: date, reach_days: int) -> Days:
    """Return *middle* and *reach_days* more days on each side."""
    reach = timedelta(days=reach_days)
    return Days(middle - reach, middle + reach + ONE_DAY)


def months(year: int, first_month: int, count: int = 1) -> Days:
    """Return *count* whole months, beginning with month *first_month* (from 1) of *year*."""
    return Days(_first_of(year, first_month), _first_of(year, first_month + count))


def whole_year(year: int) -> Days:
    """Return January to December of *year*."""
    return months(year, 1, 12)


def quarter(year: int, number: int) -> Days:
    """Return quarter *number* of *year*, from 1."""
    return months(year, 3 * number - 2, 3)


def half(year: int, number: int) -> Days:
    """Return the first or the second six months of *year*."""
    return months(year, 6 * number - 5, 6)


def season(year: int, name: str) -> Days:
    """Return the three months of a season that begins in *year*: the winter of 2024 ends in February 2025."""
    return months(year, FIRST_MONTH[name], 3)


def week_of(inside: date) -> Days:
    """Return the week, Sunday to Saturday, that contains *inside*."""
    sunday = inside - timedelta(days=inside.isoweekday() % 7)
    return Days(sunday, sunday + timedelta(days=7))


def weekday_by(latest: date, weekday: int) -> date:
    """Return the last such day (Monday is 0) that is not after *latest*."""
    return latest - timedelta(days=(latest.weekday() - weekday) % 7)


def weekend_by(latest: date) -> Days:
    """Return the last Saturday and Sunday that have begun by *latest*."""
    saturday = weekday_by(latest, SATURDAY)
    return Days(saturday, saturday + timedelta(days=2))


def weekend_of(inside: date) -> Days:
    """Return the Saturday and Sunday that contain *inside*, or the next ones."""
    return weekend_by(inside + timedelta(days=5))


def begun_by(latest: date, in_year: Callable[[int], Days]) -> Days:
    """
    Return the last yearly period that began on or before *latest*.

    Raises:
        ValueError: There is none, as for 30 February.
    """
    for year in range(latest.year, latest.year - LEAP_YEARS_APART - 1, -1):
        found = _existing(in_year, year)
        if found is not None and found.first <= latest:
            return found
    raise ValueError(f"no such period began by {latest}")


def over_by(latest: date, in_year: Callable[[int], Days]) -> Days:
    """Return the last yearly period that was over on *latest*."""
    found = begun_by(latest, in_year)
    return found if found.after <= latest else begun_by(found.first - ONE_DAY, in_year)


def earlier(moment: datetime, count: int, unit: str) -> date:
    """Return the day *count* of *unit* (a key of `REACH_DAYS`) before *moment*; a negative count is later."""
    if unit in ("month", "year"):
        return months_later(moment.date(), -count * (12 if unit == "year" else 1))
    return (moment - count * _UNITS[unit]).date()


def months_later(start: date, count: int) -> date:
    """Return the same day of a later month, or the last day of that month if it is shorter."""
    first, after = months(start.year, start.month + count)
    return min(first + timedelta(days=start.day - 1), after - ONE_DAY)


def cover(one: Days, other: Days) -> Days:
    """Return the shortest range that contains both."""
    return Days(min(one.first, other.first), max(one.after, other.after))


def _first_of(year: int, month: int) -> date:
    return date(year + (month - 1) // 12, (month - 1) % 12 + 1, 1)


def _existing(in_year: Callable[[int], Days], year: int) -> Days | None:
    try:
        return in_year(year)
    except ValueError:
        return None
