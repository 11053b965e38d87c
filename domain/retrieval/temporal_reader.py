"""
Recursive-descent parser that finds names of times in a text, with the phrases of `temporal_grammar`.

A name is recognised on its own, after a word that expects a time ("in", "on", "between"), or after one that bounds it
("since", "before"). A time that is wrongly recognised in a question hides its answers. Therefore a word that may as
well be a person, a title, a number or a verb is ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime
from typing import NamedTuple

from clawmem.domain.retrieval import temporal_days as days
from clawmem.domain.retrieval.temporal_days import FIRST_DAY, ONE_DAY, REACH_DAYS, Calendar, Days
from clawmem.domain.retrieval.temporal_grammar import (
    CLEAR_MONTHS,
    MONTHS,
    MONTHS_NOT_NAMES,
    STANDING,
    WEEKDAYS,
    WEEKENDS,
    YEARS_AND_QUARTERS,
    TimePhrase,
)
from clawmem.domain.retrieval.temporal_words import count_of, phrase

_BEGIN = re.compile(r"(?<![\w/\\.@#$€£=_-])(?=[a-z0-9])")
_LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")  # preserves all offsets
_QUOTES = frozenset("\"'`*_“”‘’«»„")  # quotes around a name of a time mark a title

# "in 2000 words": the number counts the following noun. A capitalised word is a name and is not counted.
_COUNTED = re.compile(
    r"(?<!\s)\s+(?:(?!does\b|its\b|says\b|always\b|versus\b|perhaps\b|besides\b|towards\b)[a-z]+[^\Waious]s"
    r"|people|px|[kmg]b|km|kg|usd|eur|times)\b"
)

MAX_START = 2_000  # characters; the time of a question is not in a page pasted below it
MAX_END = 3_000  # characters; no name of a time is longer than a thousand

_SPACE = re.compile(r"\s+")
# A joiner begins directly after a name: in a run of white space only the first position is tried.
_AND = re.compile(r"(?<!\s)\s+and\s+")
_TO = re.compile(r"(?<!\s)(?:\s+(?:to|till?|until|up\s+to|through)\s+|\s*[-–—]\s*)")
_OR = re.compile(r"(?<!\s)(?:\s+(?:and|or|to|through)\s+|\s*[-–—]\s*)")
_ONWARDS = re.compile(r"(?<!\s)\s+(?:on(?:wards?)?|forwards?)(?!\w)")

# Qualifiers before a name that are recognised and ignored.
_PART = re.compile(
    r"(?:(?:the\s+)?(?:start|beginning|middle|end|course)\s+of|the\s+month\s+of|early|mid|late)(?:\s+|-)"
)
_WEEK_OF = phrase("(?:the )?(?P<span>week|weekend) (?:of|beginning|starting)(?: on)?")
_EDGE = phrase("(?:the )?(?:(?P<begin>first|opening)|last|final|closing) (?:{count} )?{unit} (?:of|in)")
_COUNTED_FROM = phrase("(?:{count}|the) {unit} (?P<side>before|after)")

TimePhrases = tuple[TimePhrase, ...]
_DATED: TimePhrases = (*STANDING, *YEARS_AND_QUARTERS, *WEEKENDS)
_BOUNDING: TimePhrases = (*_DATED, *CLEAR_MONTHS, *WEEKDAYS)
_EDGED: TimePhrases = (*YEARS_AND_QUARTERS, *CLEAR_MONTHS)  # recognised after `_EDGE` without a frame


class Frame(NamedTuple):
    """An opening word, the names recognised after it, and the word that joins a second name."""

    opener: re.Pattern[str]
    names: TimePhrases
    joiner: re.Pattern[str] | None = None
    is_pair: bool = False  # whether a second name is required
    second: TimePhrases = ()  # names recognised as the second; `names` if empty


_NO_WORD = re.compile("")
_FRAMES = (
    Frame(phrase("between"), _BOUNDING, _AND, is_pair=True),
    Frame(phrase("from"), _BOUNDING, _TO, is_pair=True),
    Frame(phrase("in|during|throughout|within|over"), (*_DATED, *MONTHS), _OR),
    Frame(phrase("on|at"), (*STANDING, *WEEKDAYS, *WEEKENDS), _OR),
    Frame(phrase("from(?! [0-9]+ to [0-9])"), (*_DATED, *MONTHS_NOT_NAMES, *WEEKDAYS)),
    Frame(re.compile(r"(?=(?:early|mid|late)[-\s])"), (*MONTHS, *YEARS_AND_QUARTERS)),
    Frame(_NO_WORD, (*STANDING, *CLEAR_MONTHS), _OR, is_pair=True, second=STANDING),
    Frame(_NO_WORD, STANDING),
)
_SINCE = phrase("since|starting(?: in| on| from)?")
_FROM = phrase("from")
_AFTER = phrase("after|later than")
_BEFORE = phrase("before|prior to|earlier than")
_UNTIL = phrase("until|till?|up (?:to|until)|as of|no later than")
_BY = phrase("by")


class Reading(NamedTuple):
    """The days named by the text from ``start`` up to ``end``; ``None`` is an open side, never both."""

    first: date | None
    after: date | None
    start: int
    end: int


class _Period(NamedTuple):
    days: Days
    end: int


def readings(text: str, calendar: Calendar) -> Iterator[Reading]:
    """Yield the times that *text* names, from left to right, without empty and overlapping ones."""
    reader = _Reader(text, calendar)
    done = 0
    for begin in _BEGIN.finditer(reader.text, 0, MAX_START):
        found = reader.reading_at(begin.start()) if begin.start() >= done else None
        if found is None:
            continue
        done = found.end
        if not _is_empty(found) and not _is_title(text, found):
            yield found


def _is_empty(reading: Reading) -> bool:
    """Whether no note can be in the range: it ends where it begins, or before the first year of a note."""
    if reading.after is not None and reading.after <= FIRST_DAY:
        return True
    return reading.first is not None and reading.after is not None and reading.first >= reading.after


def _is_title(text: str, reading: Reading) -> bool:
    return (
        text[reading.start - 1 : reading.start] in _QUOTES and text[reading.end : reading.end + 1] in _QUOTES
    )


class _Reader:
    """Parser of one text. A method ``…_at`` parses at an offset and returns ``None`` if nothing matches there."""

    def __init__(self, typed: str, calendar: Calendar) -> None:
        self._typed = typed[:MAX_END]
        self.text = self._typed.translate(_LOWER)
        self._calendar = calendar

    def reading_at(self, at: int) -> Reading | None:
        """Return the time range that is named at offset *at*."""
        if bounded := self._bounded_at(at):
            return bounded
        if found := self._counted_from_at(at) or self._framed_at(at):
            return Reading(*found.days, at, found.end)
        return None

    def _bounded_at(self, at: int) -> Reading | None:
        """Parse a range that is open on one side or ends with the day of the question: "since March", "before 2024"."""
        tomorrow = self._calendar.day + ONE_DAY
        if found := self._opened_at(_SINCE, at) or self._onwards_at(at):
            return Reading(found.days.first, tomorrow, at, found.end)
        if found := self._opened_at(_AFTER, at):
            return Reading(found.days.after, tomorrow, at, found.end)
        if found := self._opened_at(_BEFORE, at):
            return Reading(None, found.days.first, at, found.end)
        if found := self._opened_at(_UNTIL, at) or self._opened_at(_BY, at, STANDING):
            return Reading(None, found.days.after, at, found.end)
        return None

    def _onwards_at(self, at: int) -> _Period | None:
        found = self._opened_at(_FROM, at)
        onwards = _ONWARDS.match(self.text, found.end) if found else None
        return _Period(found.days, onwards.end()) if found and onwards else None

    def _counted_from_at(self, at: int) -> _Period | None:
        """Parse a distance from a named time: "two days after March 4th", "the week before last Friday"."""
        opener = _COUNTED_FROM.match(self.text, at)
        found = self._opened_at(_COUNTED_FROM, at) if opener else None
        if opener is None or found is None:
            return None
        count = count_of(opener)[1] if opener["count"] else 1
        return _counted(found, -count if opener["side"] == "after" else count, opener["unit"])

    def _framed_at(self, at: int) -> _Period | None:
        return next(filter(None, (self._in_frame_at(frame, at) for frame in _FRAMES)), None)

    def _in_frame_at(self, frame: Frame, at: int) -> _Period | None:
        one = self._opened_at(frame.opener, at, frame.names)
        if one is None:
            return None
        return self._pair_at(frame, at, one) or (None if frame.is_pair else one)

    def _pair_at(self, frame: Frame, at: int, one: _Period) -> _Period | None:
        """Parse a range between two names; a first name without a year is the last one before the second."""
        joiner = frame.joiner.match(self.text, one.end) if frame.joiner else None
        other = self._period_at(joiner.end(), frame.second or frame.names) if joiner else None
        if other is None:
            return None
        before = self._calendar._replace(latest=min(self._calendar.latest, other.days.first))
        again = self._opened_at(frame.opener, at, frame.names, before) or one
        return _Period(days.cover(again.days, other.days), other.end)

    def _opened_at(
        self,
        opener: re.Pattern[str],
        at: int,
        names: TimePhrases = _BOUNDING,
        calendar: Calendar | None = None,
    ) -> _Period | None:
        """Parse a name after *opener*, which may be empty."""
        opened = opener.match(self.text, at)
        if opened is None:
            return None
        space = _SPACE.match(self.text, opened.end())
        if opened.end() > at and space is None:
            return None
        return self._period_at(space.end() if space else at, names, calendar)

    def _period_at(self, at: int, names: TimePhrases, calendar: Calendar | None = None) -> _Period | None:
        if opener := _WEEK_OF.match(self.text, at):
            return self._span_of(opener)
        if edge := self._edge_at(at, names, calendar or self._calendar):
            return edge
        part = _PART.match(self.text, at)
        return self._longest_at(part.end() if part else at, names, calendar or self._calendar)

    def _edge_at(self, at: int, names: TimePhrases, calendar: Calendar) -> _Period | None:
        """Parse the beginning or the end of a period: "the first two weeks of June", "the last days of 2024"."""
        opener = _EDGE.match(self.text, at)
        space = _SPACE.match(self.text, opener.end()) if opener else None
        whole = self._longest_at(space.end(), (*names, *_EDGED), calendar) if space else None
        if opener is None or whole is None:
            return None
        count = (
            count_of(opener)[1] if opener["count"] else 1 if opener[0][opener.end("unit") :][:1] != "s" else 5
        )
        return _edge(whole, count, opener["unit"], at_end=opener["begin"] is None)

    def _span_of(self, opener: re.Match[str]) -> _Period | None:
        """Return the week that contains a named day, or the weekend that contains or follows it."""
        space = _SPACE.match(self.text, opener.end())
        day = self._longest_at(space.end(), STANDING, self._calendar) if space else None
        if day is None:
            return None
        week, weekend = days.week_of(day.days.first), days.weekend_of(day.days.first)
        return _Period(week if opener["span"] == "week" else weekend, day.end)

    def _longest_at(self, at: int, names: TimePhrases, calendar: Calendar) -> _Period | None:
        found = (self._named_at(at, name, calendar) for name in names)
        return max(filter(None, found), key=lambda period: period.end, default=None)

    def _named_at(self, at: int, name: TimePhrase, calendar: Calendar) -> _Period | None:
        match = name.looks.match(self.text, at)
        if match is None or (match[0][-1].isdigit() and _COUNTED.match(self._typed, match.end())):
            return None
        try:
            return _Period(name.days(match, calendar), match.end())
        except (ValueError, OverflowError):  # the day does not exist
            return None


def _edge(whole: _Period, count: int, unit: str, *, at_end: bool) -> _Period | None:
    """Return the first or the last *count* of *unit* of *whole*, limited to its days."""
    first, after = whole.days
    try:
        if at_end:
            begin = days.earlier(datetime(after.year, after.month, after.day), count, unit)
            return _Period(Days(max(first, begin), after), whole.end)
        end = days.earlier(datetime(first.year, first.month, first.day), -count, unit)
        return _Period(Days(first, min(after, end)), whole.end)
    except (ValueError, OverflowError):
        return None


def _counted(period: _Period, count: int, unit: str) -> _Period | None:
    """Return *count* of *unit* before the first day of *period*, or after its last if *count* is negative."""
    edge = period.days.first if count > 0 else period.days.after - ONE_DAY
    try:
        day = days.earlier(datetime(edge.year, edge.month, edge.day), count, unit)
        return _Period(days.around(day, REACH_DAYS[unit]), period.end)
    except (ValueError, OverflowError):
        return None
