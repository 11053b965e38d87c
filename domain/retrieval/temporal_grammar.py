"""
Grammar of names for days, weeks, months and years: tables of phrases with functions that compute their days.

Some phrases always name a time (`STANDING`: "last week", "March 2025"). Others only do after a word that expects a
time: on their own, "may", "2000" and "Friday" often mean something else.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType

from clawmem.domain.retrieval import temporal_days as days
from clawmem.domain.retrieval.temporal_days import ONE_DAY, REACH_DAYS, Calendar, Days
from clawmem.domain.retrieval.temporal_words import (
    A_FEW,
    CLEARLY_A_MONTH,
    NOT_A_NAME,
    NOT_OF_AN_EVENT,
    ORDINALS,
    count_of,
    month_of,
    phrase,
    weekday_of,
)

Meaning = Callable[[re.Match[str], Calendar], Days]

_IN_A_YEAR = MappingProxyType({"q": days.quarter, "quarter": days.quarter, "h": days.half, "half": days.half})


@dataclass(frozen=True, slots=True)
class TimePhrase:
    """
    A phrase that names a time: its pattern, and the function that returns the days of a match.

    ``days`` raises ValueError or OverflowError for days that do not exist, such as 30 February.
    """

    looks: re.Pattern[str]
    days: Meaning


def ago(moment: Calendar, least: int, most: int, unit: str) -> Days:
    """Return the days between *most* and *least* of *unit* before the question, widened by half a unit."""
    reach = REACH_DAYS[unit]
    ends = (days.around(days.earlier(moment.now, count, unit), reach) for count in (most, least))
    return days.cover(*ends)


def until_now(first: date, calendar: Calendar) -> Days:
    """Return the days from *first* to the day of the question, inclusive."""
    return Days(first, calendar.day + ONE_DAY)


def _ago(match: re.Match[str], calendar: Calendar) -> Days:
    return ago(calendar, *count_of(match), match["unit"])


def _the_other_day(_: re.Match[str], calendar: Calendar) -> Days:
    return ago(calendar, *A_FEW, "day")


def _last_few(match: re.Match[str], calendar: Calendar) -> Days:
    count = count_of(match)[1] if match["count"] else A_FEW[1]
    return until_now(days.earlier(calendar.now, count, match["unit"]), calendar)


def _past(match: re.Match[str], calendar: Calendar) -> Days:
    return until_now(days.earlier(calendar.now, 1, match["unit"]), calendar)


def _yesterday(_: re.Match[str], calendar: Calendar) -> Days:
    return days.one_day(calendar.day - ONE_DAY)


def _this(match: re.Match[str], calendar: Calendar) -> Days:
    if match["period"] == "week":
        return until_now(days.week_of(calendar.day).first, calendar)
    return _holding(match["period"], calendar.day)


def _last(match: re.Match[str], calendar: Calendar) -> Days:
    """Return the previous month, quarter or year; "last week" means the last seven days."""
    if match["period"] == "week":
        return until_now(days.earlier(calendar.now, 1, "week"), calendar)
    return _before(_holding(match["period"], calendar.day), match["period"])


def _before_last(match: re.Match[str], calendar: Calendar) -> Days:
    if match["period"] == "week":
        return Days(*(days.earlier(calendar.now, weeks, "week") for weeks in (2, 1)))
    return _before(_last(match, calendar), match["period"])


def _before(period: Days, name: str) -> Days:
    return _holding(name, period.first - ONE_DAY)


def _holding(name: str, day: date) -> Days:
    """Return the calendar month, quarter or year that contains *day*."""
    if name == "month":
        return days.months(day.year, day.month)
    return days.quarter(day.year, (day.month + 2) // 3) if name == "quarter" else days.whole_year(day.year)


def _yearly(match: re.Match[str], calendar: Calendar, in_year: Callable[[int], Days]) -> Days:
    """Return a yearly period in the year that is named, else the last one that has begun."""
    year = _year(match.groupdict(), calendar)
    return days.begun_by(calendar.latest, in_year) if year is None else in_year(year)


def _year(said: dict[str, str | None], calendar: Calendar) -> int | None:
    if year := said.get("year"):
        return int(year)
    if short_year := said.get("short_year"):
        return 2000 + int(short_year)
    return {"this": calendar.day.year, "last": calendar.day.year - 1}.get(said.get("near_year") or "")


def _month(match: re.Match[str], calendar: Calendar) -> Days:
    return _yearly(match, calendar, lambda year: days.months(year, month_of(match)))


def _this_month(match: re.Match[str], calendar: Calendar) -> Days:
    return days.months(calendar.day.year, month_of(match))


def _last_month(match: re.Match[str], calendar: Calendar) -> Days:
    return days.over_by(calendar.day, lambda year: days.months(year, month_of(match)))


def _days_of_month(match: re.Match[str], calendar: Calendar) -> Days:
    first, last = int(match["day"]), int(match["to_day"] or match["day"])
    month = month_of(match)
    return _yearly(match, calendar, lambda y: Days(date(y, month, first), date(y, month, last) + ONE_DAY))


def _iso_day(match: re.Match[str], _: Calendar) -> Days:
    return days.one_day(date(*(int(match[part]) for part in ("year", "month_number", "day_number"))))


def _iso_month(match: re.Match[str], _: Calendar) -> Days:
    return days.months(int(match["year"]), int(match["month_number"]))


def _iso_week(match: re.Match[str], _: Calendar) -> Days:
    monday = date.fromisocalendar(int(match["year"]), int(match["week"]), 1)
    return Days(monday, monday + 7 * ONE_DAY)


def _part_of_year(match: re.Match[str], calendar: Calendar) -> Days:
    part = _IN_A_YEAR[match["part"]]
    said = match.groupdict()
    number = int(said["number"]) if "number" in said else ORDINALS[match["ordinal"]]
    return _yearly(match, calendar, lambda year: part(year, number))


def _season(match: re.Match[str], calendar: Calendar) -> Days:
    return _yearly(match, calendar, lambda year: days.season(year, match["season"]))


def _last_season(match: re.Match[str], calendar: Calendar) -> Days:
    return days.over_by(calendar.day, lambda year: days.season(year, match["season"]))


def _whole_year(match: re.Match[str], _: Calendar) -> Days:
    return days.whole_year(int(match["year"]))


def _years(match: re.Match[str], calendar: Calendar) -> Days:
    return days.cover(_whole_year(match, calendar), days.whole_year(int(match["to_year"])))


def _weekday(match: re.Match[str], calendar: Calendar) -> Days:
    return days.one_day(days.weekday_by(calendar.latest, weekday_of(match)))


def _last_weekday(match: re.Match[str], calendar: Calendar) -> Days:
    return days.one_day(days.weekday_by(calendar.day - ONE_DAY, weekday_of(match)))


def _weekday_of_last_week(match: re.Match[str], calendar: Calendar) -> Days:
    saturday = days.week_of(calendar.day).first - ONE_DAY
    return days.one_day(days.weekday_by(saturday, weekday_of(match)))


def _weekend(_: re.Match[str], calendar: Calendar) -> Days:
    return days.weekend_by(calendar.day)


def _last_weekend(_: re.Match[str], calendar: Calendar) -> Days:
    return days.weekend_by(calendar.day - 2 * ONE_DAY)


# The day is the finest unit: a finer range would exclude notes that are only dated by day.
STANDING = (
    TimePhrase(phrase("(?:earlier )?today|tonight"), lambda _, calendar: days.one_day(calendar.day)),
    TimePhrase(phrase("this (?:morning|afternoon|evening)"), lambda _, calendar: days.one_day(calendar.day)),
    TimePhrase(phrase("yesterday(?: (?:morning|afternoon|evening|night))?"), _yesterday),
    TimePhrase(phrase("last night"), lambda _, calendar: until_now(calendar.day - ONE_DAY, calendar)),
    TimePhrase(phrase("the other day"), _the_other_day),
    TimePhrase(phrase(r"(?<!half\s){count} {unit} (?:ago|back)(?: today)?"), _ago),
    TimePhrase(phrase(rf"(?:the )?(?:last|previous) {{count}} {{unit}}{NOT_OF_AN_EVENT}"), _last_few),
    TimePhrase(phrase("(?:the |these )?past {count} {unit}"), _last_few),
    TimePhrase(phrase(rf"(?:the |these )?last (?P<count>){{unit}}(?<=s){NOT_OF_AN_EVENT}"), _last_few),
    TimePhrase(phrase("(?:the |these )?past (?P<count>){unit}(?<=s)"), _last_few),
    TimePhrase(phrase("(?:the |this )?past {unit}(?<!s)"), _past),
    TimePhrase(phrase("(?:this|(?:the )?current) (?P<period>week|month|quarter|year)"), _this),
    TimePhrase(
        phrase(rf"(?:the )?(?:last|previous) (?P<period>week|month|quarter|year){NOT_OF_AN_EVENT}"), _last
    ),
    TimePhrase(phrase("(?:the )?(?P<period>week|month|quarter|year) before last"), _before_last),
    TimePhrase(phrase("this(?: past)? weekend"), _weekend),
    TimePhrase(phrase("last weekend"), _last_weekend),
    TimePhrase(phrase("(?:last|this past) {weekday}"), _last_weekday),
    TimePhrase(phrase("{weekday} (?:of |in )?(?:the )?last week"), _weekday_of_last_week),
    TimePhrase(phrase("last week(?:'s)? (?:on )?{weekday}"), _weekday_of_last_week),
    TimePhrase(phrase("this {month}" + CLEARLY_A_MONTH), _this_month),
    TimePhrase(phrase("last {month}" + CLEARLY_A_MONTH), _last_month),
    TimePhrase(phrase("{month}{of_year}"), _month),
    TimePhrase(phrase("{on_weekday}{month} (?:the )?{day}{to_day}{of_year}?"), _days_of_month),
    TimePhrase(phrase("{on_weekday}(?:the )?{day}{to_day} (?:of )?{month}{of_year}?"), _days_of_month),
    TimePhrase(
        phrase(
            "{year}(?P<mark>[-/])(?P<month_number>[0-9]{2})(?P=mark)(?P<day_number>[0-9]{2})"
            r"(?:(?:t|\s+)[0-9]{2}:[0-9:.]+z?)?"
        ),
        _iso_day,
    ),
    TimePhrase(phrase("{year}-(?P<month_number>0[1-9]|1[0-2])"), _iso_month),
    TimePhrase(phrase("{year}-?w(?P<week>[0-9]{2})"), _iso_week),
    TimePhrase(phrase("(?:(?P<part>q)(?P<number>[1-4])){of_year}"), _part_of_year),
    TimePhrase(phrase("(?:(?P<part>h)(?P<number>[12])){of_year}"), _part_of_year),
    TimePhrase(phrase(r"{year}(?:-|\s*)(?P<part>q)(?P<number>[1-4])"), _part_of_year),
    TimePhrase(phrase(r"{year}(?:-|\s*)(?P<part>h)(?P<number>[12])"), _part_of_year),
    TimePhrase(phrase("(?:the )?{ordinal} (?P<part>quarter){of_year}"), _part_of_year),
    TimePhrase(phrase("(?:the )?(?P<ordinal>first|second) (?P<part>half){of_year}"), _part_of_year),
    TimePhrase(phrase("(?:the )?{season}{of_year}"), _season),
    TimePhrase(phrase("this(?: past)? {season}"), _season),
    TimePhrase(phrase("last {season}"), _last_season),
    TimePhrase(phrase("the year {year}"), _whole_year),
)
YEARS_AND_QUARTERS = (
    TimePhrase(phrase("(?:the )?(?:year )?{year}"), _whole_year),
    TimePhrase(phrase(r"{year}\s*[-–]\s*(?P<to_year>19[7-9][0-9]|20[0-9]{2})"), _years),
    TimePhrase(phrase("(?P<part>q)(?P<number>[1-4])"), _part_of_year),
    TimePhrase(phrase("the {ordinal} (?P<part>quarter)"), _part_of_year),
)
MONTHS = (TimePhrase(phrase(rf"{{month}}(?:{NOT_A_NAME}|(?!['’]s\b))"), _month),)
CLEAR_MONTHS = (TimePhrase(phrase("{month}" + CLEARLY_A_MONTH), _month),)
MONTHS_NOT_NAMES = (TimePhrase(phrase("{month}" + NOT_A_NAME), _month),)
WEEKDAYS = (TimePhrase(phrase("{weekday}"), _weekday),)
WEEKENDS = (TimePhrase(phrase("the weekend"), _weekend),)
