"""Dates as people write them: in front matter, in the names of files and in headings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from clawmem.domain.documents.times import EPOCH, MILLISECOND, parse_iso
from clawmem.domain.text.vocabulary import MONTHS, any_of

# Digits that form a year outside of this range are an id, not the day a note was written.
FIRST_YEAR, LAST_YEAR = 1970, 2100

_DAY = r"(?P<d>\d{1,2})(?:st|nd|rd|th|er|\.|º)?"
_MONTH = rf"(?P<name>{any_of(MONTHS)})\.?"
# Whole days before months, so that "2026-05 draft of 2026-04-02" is a day of April.
_FORMS = (
    r"(?<!\d)(?P<y>\d{4})(?P<sign>[-_./ ]?)(?P<m>\d{2})(?P=sign)(?P<d>\d{2})(?:\d{4}(?:\d{2})?)?(?!\d)",
    r"(?<![\d.])(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?P<y>\d{4})(?!\d)",
    rf"(?<!\w){_MONTH} {_DAY},? (?P<y>\d{{4}})(?!\d)",
    rf"(?<!\w){_DAY} (?:de |of )?{_MONTH},? (?:de )?(?P<y>\d{{4}})(?!\d)",
    r"(?<![\dA-Za-z])(?P<y>\d{4})[-_.](?P<m>\d{2})(?![\dA-Za-z]|[-_.]\d\d(?!\d))",
)
_DATES = tuple(re.compile(form, re.IGNORECASE) for form in _FORMS)
_CLOCK = re.compile(
    r"[ T,]{0,3}(?:at )?(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}))?\s?(?P<half>[ap]\.?m\.?)?",
    re.IGNORECASE,
)
_WEEKDAY = re.compile(r"\A[^\W\d]{2,12},? (?=.{0,40}\d{4})")


def written_time(text: str) -> int | None:
    """
    Return the milliseconds since the Unix epoch of a time that a person or a program has written; ``None`` if it is none.

    Besides ISO 8601 these are dates with ``/``, ``.`` or no separators, ``08.05.2024``, ``May 3, 2024`` and
    ``3 May 2024`` in six languages, ``2024-05``, a link to a day, each with or without a time of 12 or 24 hours and a
    weekday, and seconds or milliseconds since the epoch.
    """
    text = text.strip().strip("[]").strip()
    if text.isdecimal() and len(text) in (10, 13):
        return int(text) * (1000 if len(text) == 10 else 1)
    ms = parse_iso(text)
    if ms is not None:
        return ms
    for candidate in (text, _WEEKDAY.sub("", text, count=1)):
        for pattern in _DATES:
            match = pattern.match(candidate)
            rest = candidate[match.end() :] if match else ""
            clock = _CLOCK.fullmatch(rest)
            if match and (clock or not rest.strip()):
                day = _day(match)
                return None if day is None else day + (_time_of_day(clock) if clock else 0)
    return None


def authored_at(declared: str | None, path: str, headings: Iterable[str], modified_ms: int) -> int:
    """
    Return when a document was written, in milliseconds since the Unix epoch, from the first available of:

    1. *declared*, if `written_time` accepts it;
    2. a date in *path*, searched in the file name, then in the folders, nearest first: a day, else a month; the leftmost of several in one name;
    3. the latest day in *headings*, since a running log is as recent as its last entry;
    4. *modified_ms*.

    Dates of 2 and 3 are midnight UTC and must be existing days of the years 1970 to 2100, both included.
    """
    times = (time for time in _candidates(declared, path, headings) if time is not None)
    return next(times, modified_ms)


def _candidates(declared: str | None, path: str, headings: Iterable[str]) -> Iterator[int | None]:
    yield written_time(declared or "")
    for name in reversed(path.split("/")):
        yield next(_days(name), None)
    yield max((day for heading in headings for day in _days(heading)), default=None)


def _days(text: str) -> Iterator[int]:
    if any(map(str.isdecimal, text)):
        for pattern in _DATES:
            days = (_day(match) for match in pattern.finditer(text))
            yield from (day for day in days if day is not None)


def _day(match: re.Match[str]) -> int | None:
    parts = match.groupdict()
    month = MONTHS[parts["name"].lower()] if parts.get("name") else int(parts["m"])
    try:
        day = datetime(int(parts["y"]), month, int(parts.get("d") or 1))
    except ValueError:
        return None
    return (day - EPOCH) // MILLISECOND if FIRST_YEAR <= day.year <= LAST_YEAR else None


def _time_of_day(clock: re.Match[str]) -> int:
    hour = int(clock["hour"])
    if clock["half"]:
        hour = hour % 12 + (12 if clock["half"].lower().startswith("p") else 0)
    return (
        timedelta(hours=hour, minutes=int(clock["minute"]), seconds=int(clock["second"] or 0)) // MILLISECOND
    )
