"""Dates as people write them: in front matter, in the names of files, in headings and in commands."""

import math
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta, tzinfo
from itertools import chain, islice
from operator import itemgetter

from clawmem.domain.documents.times import DAY_MS, EPOCH, MILLISECOND, iso_utc, parse_iso
from clawmem.domain.text.vocabulary import MONTHS, WEEKDAYS, any_of

# Digits that form a year outside of this range are an id, not the day a note was written.
FIRST_YEAR, LAST_YEAR = 1970, 2100

_DAY = r"(?P<d>\d{1,2})(?:st|nd|rd|th|er|\.|º)?"
_MONTH = rf"(?P<name>{any_of(MONTHS)})\.?"
_WEEK = r"(?:(?:kw|cw|wk|week|(?:kalender)?woche|semaine|semana|settimana)[-_ .]?|w)(?P<week>\d\d?)"
# Whole days before months, so that "2026-05 draft of 2026-04-02" is a day of April.
_FORMS = (
    r"(?<!\d)(?P<y>\d{4})(?P<sign>[-_./ ]?)(?P<m>\d{2})(?P=sign)(?P<d>\d{2})(?:\d{4}(?:\d{2})?)?(?!\d)",
    r"(?<!\d)(?P<y>\d{4})(?P<sign>[-_/年년] ?|\. )(?P<m>\d{1,2})(?:[-_/月월] ?|\. )(?P<d>\d{1,2})(?!\d)[日일.]?",
    r"(?<![\d./-])(?P<d>\d{1,2})(?P<sign>[-_./])(?P<m>\d{1,2})(?P=sign)(?P<y>\d{4}|(?<=[./])\d\d)(?![-./]?\d)",
    rf"(?<!\w){_MONTH} {{1,2}}{_DAY},?(?: [\d:]{{8}}(?: [A-Z]{{3,4}})?)? (?P<y>\d{{4}})(?!\d)",
    rf"(?<!\w){_DAY}[ -](?:de |of )?{_MONTH},?[ -](?:de )?(?P<y>\d{{4}})(?!\d)",
    rf"(?<!\w)(?P<y>\d{{4}})[-, ]{{1,2}}{_MONTH}[- ]{_DAY}(?!\d)",
    rf"(?<![\dA-Za-z])(?P<y>\d{{4}})[-_ ./]?(?:(?P<m>\d\d)[-_ ./])?{_WEEK}(?![^\W_])",
    rf"(?<![^\W_]){_WEEK}(?:-\d\d?)?[-_ ,./]{{1,2}}(?P<y>\d{{4}})(?!\d)",
    r"(?<![\dA-Za-z])(?P<y>\d{4})[-_.](?P<m>\d{2})(?![\dA-Za-z]|[-_.]\d\d(?!\d))",
    rf"(?<!\w){_MONTH} (?:de )?(?P<y>\d{{4}})(?!\d)",
    r"(?:\A|/)(?P<y>\d{4})[-/](?P<m>\d\d?)(?:-[^/\d]+)?/(?P<d>\d\d?)(?:-[^/\d]+)?\.\w+\Z",
)
_DATES = tuple(re.compile(form, re.IGNORECASE) for form in _FORMS)
_DAYS, _OF_NAMES = _DATES[:-5], _DATES[:-2]  # "Budget May 2024" names a subject
_OF_FOLDERS = (_DATES[-5], _DATES[-1])
_AGES = ((365.25, "year"), (30.44, "month"), (7, "week"), (1, "day"))
# The words of names of dates, in this order: the last ones only say when a text was changed. Others may be added.
_DATE_WORDS = tuple("date datum fecha data created creation modified updated edited".split())
_ADDED = frozenset({"date", "time", "last", "at", "on"})
_BEFORE_DAY = r"\A(?:den|le|a|lì) "  # as letters write it after the place
_WEEKDAY = re.compile(rf"\A(?:{any_of(WEEKDAYS)}),? |,? (?:{any_of(WEEKDAYS)})\Z", re.IGNORECASE)


def written_time(text: str, zone: tzinfo = UTC) -> int | None:
    """
    Return the milliseconds since the Unix epoch of a time that a person or a program has written; else ``None``.

    That is ISO 8601, seconds or milliseconds since the epoch, or the midnight of the first day or month in another
    text: ``2024/05/03``, ``8.5.2024``, ``8.5.24``, ``Friday, May 3rd 2024``, ``3 May 2024`` in six languages, ``2024-05``.
    A time of day without an offset is in *zone*; a day alone is the midnight of UTC.
    """
    text = text.strip().strip("[]").strip()
    number = text.partition(".")[0]
    if number.isdecimal() and len(number) in (10, 13):
        return int(number) * (1000 if len(number) == 10 else 1)
    ms = parse_iso(text, zone if ":" in text else UTC)
    return next(_days(text, _DATES, century=2000), None) if ms is None else ms


def read_moment(text: str, now_ms: int, direction: int, zone: tzinfo = UTC) -> int | None:
    """
    Return the milliseconds since the Unix epoch of a date, a time, or a number of days such as ``30d``.

    ``None`` for any other text.

    Args:
        direction: 1 for days after *now_ms*, -1 for days before.
        zone: As for `parse_iso`.
    """
    days = text.strip().removesuffix("d").strip()
    if text.strip().endswith("d") and days.isdecimal() and len(days) <= 6:
        return now_ms + direction * int(days) * DAY_MS
    return parse_iso(text, zone)


def day_named(name: str) -> str:
    """Return the day that *name* is, also with its weekday, as ``YYYY-MM-DD``; another name as it is."""
    if not 4 < sum(map(str.isdecimal, name)) <= 8:  # more are a day with a time
        return name
    text = _WEEKDAY.sub("", name)
    is_whole = any(pattern.fullmatch(text) for pattern in _DAYS)
    return next((iso_utc(day)[:10] for day in _days(text) if is_whole), name)


def formatted_day(name: str, form: str) -> str:
    """
    Return the day that *name* is in a format of numbers and weekdays, such as ``EEE, dd-MM-yyyy``.

    Empty if *name* is no day, *form* another format or empty, or the result a day without the format.
    """
    signs = {"yyyy": "%Y", "MM": "%m", "dd": "%d", "EEEE": "%A", "EEE": "%a", "E": "%a"}
    parts = re.split(r"([A-Za-z]+)", form)
    day = parse_iso(day_named(name)) if form else None
    if day is None or not signs.keys() >= {*parts[1::2]}:
        return ""
    text = f"{EPOCH + day * MILLISECOND:{''.join(signs.get(part, part) for part in parts)}}"
    return text if day_named(text) == text else ""


def day_in(text: str) -> str:
    """Return the first whole day that *text* names, as ``YYYY-MM-DD``; empty if there is none."""
    return next((iso_utc(day)[:10] for day in _days(text, _DAYS)), "")


def dated_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the start of each line, or list item, that begins with a number in bold or before a colon, and that beginning."""
    day = r"[^\W\d]+[.,]* \d[^:*_\n]*|\d+[^\d:*_\n][^:*_\n]*"  # "Tue 22", "22.10.", no time such as 22:10
    for line in re.finditer(rf"(?m)^[ \t]*(?:[-*+] )?(\*\*|__)?({day})(?(1):?\1|:)", text):
        yield line.start(), line[2]


def opening_fields(body: str) -> Iterator[tuple[str, str]]:
    """Yield names and values of the lines ``Name: value`` that open a text below its title, also as items of a list."""
    lines = islice((line for line in body[:9000].splitlines() if line.strip() and line[0] != "#"), 20)
    form = r"[-*+_\s]*([^\W\d][^:\n]{0,40}):[*_]*\s+(.*)"
    for line in lines:
        if not (field := re.match(form, line[:200])):
            return
        yield field[1].strip("*_ "), field[2].strip("*_ ")


def date_rank(name: str) -> int:
    """Return the rank of the property *name* among those that say when a text was written, 0 the best; -1 for others."""
    words = name.casefold().replace(" ", "_").split("_")
    word = next((word for word in words if word not in _ADDED), words[0])
    return _DATE_WORDS.index(word) if word in _DATE_WORDS and {*words} <= {word, *_ADDED} else -1


def day_at_opening(body: str, latest_ms: int) -> str:
    """
    Return the day that opens a text, as ``YYYY-MM-DD``; empty if it opens otherwise, or with a day after *latest_ms*.

    That is a date before the other words of the first line below the title, also after a weekday ("Mo 3.8.26") or the
    name of such a property ("Created 3.8.26"), or alone at the end of the line, as of a letter ("Leipzig, 16 Feb 2026").
    Here a year may have two digits. Items of lists and links to days are none. Of lines such as "Created: 16 Feb 2026",
    as MultiMarkdown and exports write them first, it is the best by `date_rank`.
    """
    line = next(filter(str.strip, (line for line in body.splitlines() if not line.startswith("#"))), "")[:200]
    fields = [(date_rank(name), value) for name, value in opening_fields(body) if date_rank(name) >= 0]
    line = min(fields, key=itemgetter(0))[1].lstrip("[") if fields else line.strip()
    start = _WEEKDAY.sub("", line.lstrip("*_>(")) if not line.startswith(("- ", "* ", "+ ")) else ""
    first, _, rest = start.partition(" ")
    label = first.rstrip(".,").casefold()
    is_weekday = len(label) > 1 and any(name.startswith(label) for name in WEEKDAYS)
    start = (rest if is_weekday or date_rank(label) >= 0 else start).lstrip("*_")
    texts = [match[0] for pattern in _DAYS if (match := pattern.match(start))]
    if ", " in start and len(start.split()) <= 5:
        ending = _WEEKDAY.sub("", re.sub(_BEFORE_DAY, "", start.rstrip("*_.").rpartition(", ")[2]))
        texts += [ending for pattern in _DAYS if pattern.fullmatch(ending)]
    days = (day for text in texts for day in _days(text, _DAYS, century=2000))
    return next((iso_utc(day)[:10] for day in days if day <= latest_ms), "")


def authored_at(
    declared: str | None, path: str, headings: Iterable[str], modified_ms: int, zone: tzinfo = UTC
) -> int:
    """
    Return when a document was written, in milliseconds since the Unix epoch, from the first available of:

    1. *declared*, if `written_time` accepts it, in *zone*;
    2. a date in *path*, searched in the file name, then in the file with its folders (``2026/03/08.md``), then in the
       folders, nearest first: a day, else a week or month; the leftmost of several in one name;
    3. the latest day in *headings*, or the one at the opening: a log is as recent as its last entry;
    4. *modified_ms*.

    Dates of 2 and 3 are midnight UTC and must be existing days of the years 1970 to 2100, both included.
    """
    time = written_time(declared or "", zone)
    if time is None:
        folders, _, file = path.rpartition("/")
        of_folders = map(_days, reversed(folders.split("/")))
        time = next(chain(_days(file), _days(path, _OF_FOLDERS), chain.from_iterable(of_folders)), None)
    if time is None:
        time = max((day for heading in headings for day in _days(heading)), default=None)
    return modified_ms if time is None else time


def _days(text: str, patterns: Iterable[re.Pattern[str]] = _OF_NAMES, century: int = 0) -> Iterator[int]:
    """
    Yield the days in *text*; without a *century* a year has four digits.

    Of two numbers before the year, without dots between them, one must exceed 12, or both are equal.
    """
    for pattern in patterns if any(map(str.isdecimal, text)) else ():
        for match in pattern.finditer(text):
            parts = match.groupdict()
            month = MONTHS[parts["name"].lower()] if parts.get("name") else int(parts.get("m") or 0)
            year, number = int(parts["y"]), int(parts.get("d") or 1)
            if parts.get("sign") in ("/", "-", "_") and pattern is _DATES[2]:
                if number <= 12 and month <= 12 and number != month:
                    continue  # 3/4/2026 is of March or April
                number, month = (month, number) if month > 12 else (number, month)
            with suppress(ValueError):
                year += century if year < 100 else 0
                week = parts.get("week")
                day = datetime.fromisocalendar(year, int(week), 1) if week else datetime(year, month, number)
                is_known = FIRST_YEAR <= day.year <= LAST_YEAR
                # "2026-11-W2" is the second week of November.
                if is_known and (not week or month in (0, day.month, (day + timedelta(6)).month)):
                    yield (day - EPOCH) // MILLISECOND


def local_day(moment: str, zone: tzinfo | None = None) -> str:
    """Return the day of a recorded *moment* in *zone*, by default this machine's; midnight UTC is a day without a time."""
    with suppress(ValueError, OverflowError):
        if moment[11:16] != "00:00":
            return str(datetime.fromisoformat(moment).astimezone(zone).date())
    return moment[:10]


def local_moment(moment: str) -> str:
    """Return a recorded *moment*; of midnight UTC, a day without a time, its begin in this machine's zone."""
    with suppress(ValueError, OverflowError):
        if moment[11:16] == "00:00":
            begin = datetime.fromisoformat(moment[:10]).astimezone(UTC).replace(tzinfo=None)
            return iso_utc((begin - EPOCH) // MILLISECOND)
    return moment


def days_since(moment: str, now_ms: int, zone: tzinfo) -> float:
    """Return the number of midnights in *zone* from a recorded *moment* until now; NaN if the moment is invalid."""
    with suppress(ValueError):
        day, today = (date.fromisoformat(local_day(text, zone)) for text in (moment, iso_utc(now_ms)))
        return (today - day).days
    return math.nan


def age(days: float) -> str:
    """Return an age in days as text, such as ``3 weeks ago``."""
    if math.isnan(days):
        return "of unknown age"
    if days < 0:
        return "in the future"
    for length, unit in _AGES:
        if (count := int(days / length)) >= 1:
            several = f"{count:,} {unit}{'s' if count > 1 else ''} ago"
            return "yesterday" if (unit, count) == ("day", 1) else several
    return "today"


def days_text(first: str, last: str) -> str:
    """Return the days from *first* to *last* in words; an empty day is an open side."""
    if not (first and last):
        return f"since {first}" if first else f"until {last}"
    return first if first == last else f"{first} to {last}"
