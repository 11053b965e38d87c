"""
Times that a text names in six languages: dates, months, quarters, seasons, weekdays, and times before today.

A phrase such as "last week", "March 2025" or "gestern" always names a time. A bare month, year, weekday or season only
does after a word that expects a time ("in", "since", "zwischen"). A time that is wrongly recognised in a question hides
its answers. Therefore a word that may as well be a person, a title, a number or a verb is ignored.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from datetime import MAXYEAR, MINYEAR, UTC, date, datetime, timedelta, tzinfo
from typing import NamedTuple

from clawmem.domain.documents.times import DAY_MS, EPOCH, MILLISECOND, iso_utc, parse_iso
from clawmem.domain.text.vocabulary import MONTHS, NUMBERS, ORDINALS, SEASONS, WEEKDAYS, any_of
from clawmem.domain.text.words import words
from clawmem.domain.text.written_dates import FIRST_YEAR, LAST_YEAR, day_in, day_named, local_day, read_moment

MAX_START, MAX_END = 2_000, 3_000  # characters; the time of a question is not in a page pasted below it
LEAP_YEARS_APART = 8  # longest distance between two 29 February
A_FEW = (2, 5)  # lowest and highest number
ONE_DAY = timedelta(days=1)
_FIRST_DAY = date(FIRST_YEAR, 1, 1)  # no note has an earlier date
_EPOCH = EPOCH.replace(tzinfo=UTC)
# Times are moved and put in other zones, which the first and last year of the calendar do not allow.
_EARLIEST_MS, _LATEST_MS = ((datetime(year, 1, 1) - EPOCH) // MILLISECOND for year in (MINYEAR + 1, MAXYEAR))
_LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZÄÉÖÚÜ", "abcdefghijklmnopqrstuvwxyzäéöúü")  # keeps offsets
_QUOTES = frozenset("\"'`*_“”‘’«»„")  # quotes around a name of a time mark a title
_MONTHS_IN = {"month": 1, "quarter": 3, "half": 6, "year": 12}
_DAYS_IN = {"minute": 0, "hour": 0, "day": 1, "week": 7}
# "Three weeks ago" means a week, not a day: half of a unit, in days, is added on both sides of the day.
_REACH = {"week": 3, "month": 15, "quarter": 45, "year": 182}
_UNITS = dict(
    pair.split(":")
    for pair in """
    minute:minute hour:hour day:day week:week month:month quarter:quarter year:year
    stunde:hour tag:day woche:week monat:month quartal:quarter jahr:year
    hora:hour día:day semana:week mes:month trimestre:quarter año:year dia:day mês:month ano:year
    heure:hour jour:day semaine:week mois:month ans:year année:year
    giorno:day giorni:day settimana:week settimane:week mese:month mesi:month anno:year anni:year
    """.split()
)
_COUNTS = {
    **{name: (number, number) for name, number in {**NUMBERS, "due": 2}.items()},
    **dict.fromkeys("a an ein einem einer un una une um uma".split(), (1, 1)),
    **dict.fromkeys(("a couple of", "couple of", "a couple"), (2, 3)),
    **dict.fromkeys(("a few", "few", "several", "ein paar", "paar", "einigen", "quelques"), A_FEW),
}
_ALSO_PEOPLE = frozenset("april may june august jan mars julio".split())
# Months and seasons that are also a person, a verb or a thing must stand at the end of a clause or before a word that
# cannot follow one.
_CLEAR = (
    r"(?!['’]s\b)(?:(?<!april)(?<!may)(?<!june)(?<!august)(?<!\bjan)(?<!march)(?<!mars)(?<!julio)(?<!spring)(?<!fall)"
    r"|(?=\s*(?:$|[^\w\s'’])|\s+(?:a|about|and|did|do|does|for|how|i|in|of|on|onwards?|or|our|the|they|till|to|through"
    r"|until|we|what|when|where|which|who|why|with|you|und|bis|oder|ich|wir|wie|über|mit)\b))"
)
_NUMBER_OF_DAY = r"(?:3[01]|[12]\d|0?[1-9])"
_YEAR = r"(?P<year>19[7-9]\d|20\d\d|2100)"
_WORDS = {
    "month": rf"(?P<month>{any_of(MONTHS)})\b\.?",
    "season": rf"(?P<season>{any_of(SEASONS)})",
    "weekday": rf"(?P<weekday>{any_of(WEEKDAYS.keys() - {'wed', 'sat', 'sun'})})(?!\s+the\s+\d)",
    "on_weekday": rf"(?:(?:{any_of(WEEKDAYS)})\b\.?,?\s+)?",
    "day": rf"(?P<day>{_NUMBER_OF_DAY})(?:st|nd|rd|th|er|\.)?",
    "to_day": r"(?:(?:\s*[-–]\s*|\s+(?:and|to|through|until|bis|und)\s+(?:the\s+)?)"
    rf"(?P<to_day>{_NUMBER_OF_DAY})(?:st|nd|rd|th|\.)?)?",
    "year": _YEAR,
    "of_year": rf"(?:,?\s+(?:(?:of|del?)\s+)?(?:{_YEAR}|['’](?P<short>\d\d)"
    r"|(?P<near>last|this|letzten|vorigen|dieses)\s+(?:year|jahres)))",
    "part": rf"(?:the\s+|im\s+)?(?P<ordinal>{any_of(ORDINALS)})\s+(?P<part>quarter|half|quartal|halbjahr)",
    "count": rf"(?P<count>{any_of(_COUNTS)}|[1-9]\d{{0,3}})".replace(r"\ ", r"\s+"),
    "unit": rf"(?P<unit>{any_of(_UNITS)})(?:e?n|e?s|e)?",
    "last": r"(?:last|previous|letzte[nrms]?|vorige[nrms]?|vergangene[nrms]?)",
    "today": r"(?:(?:earlier\s+)?today|heute|hoy|aujourd['’]hui|oggi|hoje)",
    "yesterday": "(?:yesterday|gestern|ayer|ieri|ontem)",  # French "hier" is German "here"
    "day_before": r"(?:the\s+day\s+before\s+yesterday|vorgestern|anteayer|avant-hier|l['’]altro\s+ieri|anteontem)",
    "day_after": r"(?:(?:the\s+)?day\s+after\s+tomorrow|übermorgen|après-demain|pasado\s+mañana|dopodomani)",
    "this": r"(?:this|(?:the\s+)?current|diese[nrms]?|est[ae]|cet?|cette|quest[ao])",
    "past_after": r"(?:pasad[oa]|derni[eè]re?|scors[oa]|passad[oa])",
    "the": r"(?:(?:the|this|these|die|den|der)\s+)?",
    # "The last three weeks of the trip" are part of an event at an unknown time.
    "no_event": r"(?!\s+(?:of|des|der)\s+(?:the|this|that|his|her|its|their|an?|[a-z]+['’]s)\b)",
    "clear": _CLEAR,
}
# A phrase does not end inside a path, a version, a clock time, an address or a percentage; a number does not count a noun.
_END = (
    r"(?!\w|[/\\@=]\w|[-.:]\w|\s*%)"
    r"(?!(?<=\d)\s+(?:(?!does\b|its\b|says\b|always\b)[a-z]+[^\Waious]s|people|px|[kmg]b|km|kg|usd|eur)\b)"
)
_BEGIN = re.compile(r"(?<![\w/\\.@#$€£=-])(?=[^\W_])")


class TimeRange(NamedTuple):
    """
    The time range that a question names, in the form of a `Scope`, and its position in the question.

    ``authored_from`` is inclusive, ``authored_until`` exclusive; ``None`` leaves that side open, never both. The
    characters of the question from ``start`` up to ``end`` name the time.
    """

    authored_from: str | None
    authored_until: str | None
    start: int
    end: int

    @property
    def is_day(self) -> bool:
        """Whether the range is at most one day, which has an hour more where the clocks change."""
        if self.authored_from is None or self.authored_until is None:
            return False
        length = datetime.fromisoformat(self.authored_until) - datetime.fromisoformat(self.authored_from)
        return length <= ONE_DAY + timedelta(hours=1)

    def days(self, zone: tzinfo) -> tuple[str, str]:
        """Return the first and the last day of the range in *zone*, in ISO 8601; empty for an open side."""
        ends = (self.authored_from, 0), (self.authored_until, 1)
        first, last = (
            str((datetime.fromisoformat(time).astimezone(zone) - timedelta(seconds=before)).date())
            if time
            else ""
            for time, before in ends
        )
        return first, last

    def has_day_of(self, moment: str, zone: tzinfo) -> bool:
        """Whether the day of *moment*, an ISO time, is one of the range in *zone*."""
        first, last = self.days(zone)
        return first <= local_day(moment, zone) <= (last or f"{MAXYEAR}")


def month_named(name: str) -> str:
    """Return the month that *name* is, such as "November 2026" or "2026-11", as ``2026-11``; empty for another name."""
    named = temporal_range(name, now_ms=0) if re.search(r"\d{4}", name) else None
    is_whole = named and (named.start, named.end) == (0, len(name)) and not named.is_day
    first, last = named.days(UTC) if named and is_whole else ("", "")
    return first[:7] if first.endswith("-01") and first[:7] == last[:7] else ""


def recorded_midnight(moment: str | None, zone: tzinfo) -> str | None:
    """
    Return midnight UTC of the day that begins at *moment* in *zone*, if it is earlier, as west of Greenwich; else ``None``.

    Notes with a day but no time are recorded at that time.
    """
    day = datetime.fromisoformat(moment).astimezone(zone).date() if moment else None
    recorded = f"{day}T00:00:00.000Z"
    return recorded if moment and _midnight(day, zone) == moment > recorded else None


class Days(NamedTuple):
    """The days from ``first`` up to, but not including, ``after``."""

    first: date
    after: date


def _later(day: date, count: int, unit: str) -> date:
    """Return *day* moved by *count* of *unit*; the last day of a month if it has no such day."""
    if unit in _DAYS_IN:
        return day + timedelta(days=count * _DAYS_IN[unit])
    months = day.year * 12 + day.month - 1 + count * _MONTHS_IN[unit]
    first, following = (date(number // 12, number % 12 + 1, 1) for number in (months, months + 1))
    return min(first + timedelta(days=day.day - 1), following - ONE_DAY)


def _period(unit: str, day: date, away: int = 0) -> Days:
    """Return the calendar unit that contains *day*, or the one *away* from it; weeks begin on Monday."""
    months = _MONTHS_IN.get(unit, 0)
    if months:
        first = date(day.year, day.month - (day.month - 1) % months, 1)
    else:
        first = day - timedelta(days=day.weekday() if unit == "week" else 0)
    return Days(_later(first, away, unit), _later(first, away + 1, unit))


class _Phrase(NamedTuple):
    """
    A phrase that names a time, read at a moment of the user's local time.

    ``latest`` is the day by which a name without a year ("March") has begun: today, or earlier for the first of two names.
    """

    groups: dict[str, str | None]
    now: datetime
    latest: date

    def text(self, group: str) -> str:
        """Return the text of a group of the pattern; empty if it matched nothing."""
        return self.groups.get(group) or ""

    def number(self, group: str) -> int:
        """Return the number in a group; 0 if it matched nothing."""
        return int(self.text(group) or 0)

    def period(self, unit: str = "", away: int = 0) -> Days:
        """Return the calendar unit that contains today, or the one *away* from it; weeks begin on Monday."""
        return _period(unit or _UNITS[self.text("unit")], self.now.date(), away)

    def earlier(self, count: int) -> date:
        """Return the day *count* of the named units ago."""
        unit = _UNITS[self.text("unit")]
        if unit in ("minute", "hour"):
            return (self.now - timedelta(**{f"{unit}s": count})).date()
        return _later(self.now.date(), -count, unit)

    def counts(self) -> tuple[int, int]:
        """Return the least and the greatest number that the count may mean ("a few")."""
        text = " ".join(self.text("count").split())
        return _COUNTS[text] if text in _COUNTS else (int(text), int(text))

    def ago(self) -> Days:
        """Return the days of "three weeks ago", with the days around them that it may mean."""
        late, early = map(self.earlier, self.counts())
        reach = timedelta(days=_REACH.get(_UNITS[self.text("unit")], 0))
        return Days(early - reach, late + reach + ONE_DAY)

    def last(self, count: int) -> Days:
        """Return the days from *count* units ago up to today."""
        return Days(self.earlier(count), self.period("day").after)

    def weekday(self, latest: date, name: str = "", length: int = 1) -> Days:
        """Return *length* days from the last such weekday that is not after *latest*."""
        first = latest - timedelta(days=(latest.weekday() - WEEKDAYS[name or self.text("weekday")]) % 7)
        return Days(first, first + length * ONE_DAY)

    def day(self) -> Days:
        """Return the named day."""
        return _period("day", date(self.number("year"), self.number("number"), self.number("day")))

    def years(self) -> Days:
        """Return the named year, or the years up to a second one."""
        first = self.number("year")
        return Days(date(first, 1, 1), date((self.number("to_year") or first) + 1, 1, 1))

    def part(self) -> Days:
        """Return the part of a year that is named, in the year that is named or else the last one that has begun."""
        if year := self.number("year") or (self.number("short") and 2000 + self.number("short")):
            return self.in_year(year)
        if near := self.text("near"):
            return self.in_year(self.now.year - (near not in ("this", "dieses")))
        for number in range(self.latest.year, self.latest.year - LEAP_YEARS_APART - 1, -1):
            with suppress(ValueError):  # 29 February
                if (days := self.in_year(number)).first <= self.latest:
                    return days
        raise ValueError(f"{self.groups} has not begun by {self.latest}")

    def in_year(self, year: int) -> Days:
        """Return the days, the month, the season, the quarter or the half of *year*."""
        month = self.number("number") or MONTHS.get(self.text("month"), 0)
        if day := self.number("day"):
            return Days(date(year, month, day), date(year, month, self.number("to_day") or day) + ONE_DAY)
        count = {"": 1 if month else 3, "q": 3, "h": 6}[self.text("part")[:1]]
        if part := self.number("nth") or ORDINALS.get(self.text("ordinal"), 0):
            month = count * (part - 1) + 1
        first = date(year, month or SEASONS[self.text("season")], 1)
        return Days(first, _later(first, count, "month"))

    def part_of(self, days: Days) -> Days:
        """Return the half or the units of *days* that are named; all *days* for "early" and if there is no such part."""
        nth, length = ORDINALS.get(self.text("ordinal"), 1) - 1, (days.after - days.first).days
        first, after = days
        with suppress(ValueError, OverflowError):  # beyond the calendar
            if self.text("half"):
                is_year = length > 31 * 9
                middle = _later(first, 6, "month") if is_year else first + timedelta(length // 2)
                first, after = (middle, after) if nth or self.text("last") else (first, middle)
            elif name := self.text("weekday") or "saturday" * bool(self.text("saturday")):
                latest = after - ONE_DAY if self.text("last") else first + timedelta(days=6 + 7 * nth)
                first, after = self.weekday(latest, name, 2 if self.text("saturday") else 1)
            elif unit := _UNITS.get(self.text("unit")):
                count = A_FEW[1] if self.groups["plural"] is not None else 1
                count = self.counts()[1] if self.text("count") else count
                if self.text("last"):
                    first = _later(days.after, -count, unit)
                else:
                    first, after = (_later(days.first, (nth + n) * count, unit) for n in (0, 1))
        part = Days(max(first, days.first), min(after, days.after))
        return part if part.first < part.after else days

    def over(self) -> Days:
        """Return the last month or season of that name that is over."""
        days = self.part()
        return days if days.after <= self.now.date() else self._replace(latest=days.first - ONE_DAY).part()


def _pattern(text: str, end: str = _END) -> re.Pattern[str]:
    """Return the pattern for *text*, with any white space for a space and the entries of `_WORDS` in braces."""
    filled = re.sub(r"\{([a-z_]+)\}", lambda name: _WORDS[name[1]], text.replace(" ", r"\s+"))
    return re.compile(f"(?:{filled}){end}")


def _table(
    phrases: dict[str, Callable[[_Phrase], Days]],
) -> list[tuple[re.Pattern[str], Callable[[_Phrase], Days]]]:
    return [(_pattern(text), days) for text, days in phrases.items()]


# The day is the finest unit: a finer range would exclude notes that are only dated by day.
_TIMES = _table(
    {
        "{today}|tonight|this (?:morning|afternoon|evening)": lambda it: it.period("day"),
        "{yesterday}(?: (?:morning|afternoon|evening|night|abend))?": lambda it: it.period("day", -1),
        "{day_before}": lambda it: it.period("day", -2),
        "last night|letzte nacht": lambda it: Days(it.period("day", -1).first, it.period("day").after),
        r"(?<!half\s){count} {unit} (?:ago|back|fa)": _Phrase.ago,
        "(?:vor|hace|il y a|há) {count} {unit}": _Phrase.ago,
        "{the}{last} {count} {unit}{no_event}": lambda it: it.last(it.counts()[1]),
        "(?:{the}past|últim[ao]s|ultim[ei]) {count} {unit}": lambda it: it.last(it.counts()[1]),
        "{the}(?:last|past) {unit}(?<=[a-z]s){no_event}": lambda it: it.last(A_FEW[1]),
        "{the}past {unit}(?<!s)": lambda it: it.last(1),
        "{this} {unit}": _Phrase.period,
        r"{the}{last} {unit}(?<!s)(?<!tag)(?!(?<=day) of\b){no_event}": lambda it: it.period(away=-1),
        "{unit} {past_after}|l['’]an dernier": lambda it: it.period("" if it.text("unit") else "year", -1),
        "{the}{unit} before last": lambda it: it.period(away=-2),
        "vorletzte[nrs]? {unit}": lambda it: it.period(away=-2),
        "this(?: past)? weekend|dieses wochenende": lambda it: it.weekday(it.now.date(), "saturday", 2),
        "last weekend|letztes wochenende": lambda it: it.weekday(it.period("day", -2).first, "saturday", 2),
        "(?:{last}|this past) {weekday}": lambda it: it.weekday(it.period("day", -1).first),
        "(?:el )?{weekday} {past_after}": lambda it: it.weekday(it.period("day", -1).first),
        "{weekday} (?:of |in )?(?:the )?last week": lambda it: it.weekday(
            it.period("week", -1).after - ONE_DAY
        ),
        "{this} {month}{clear}": lambda it: it.in_year(it.now.year),
        "{this} (?:past )?{season}": _Phrase.part,
        "{last} (?:{month}{clear}|{season})": _Phrase.over,
        "(?:{month}|{the}{season}|{part}){of_year}": _Phrase.part,
        r"(?P<near>last|this|letztes|voriges|dieses) (?:year|jahr) (?:in|im) (?:{month}|{the}{season})": _Phrase.part,
        r"(?P<part>[qh])(?P<nth>[1-4]){of_year}": _Phrase.part,
        r"{year}(?:-|\s*)(?P<part>[qh])(?P<nth>[1-4])": _Phrase.part,
        "{on_weekday}{month} (?:the )?{day}{to_day}{of_year}?": _Phrase.part,
        "{on_weekday}(?:the )?{day}{to_day} (?:(?:of|de) )?{month}{of_year}?": _Phrase.part,
        r"{year}(?P<mark>[-/])(?P<number>\d\d)(?P=mark)(?P<day>\d\d)(?:(?:t|\s+)\d\d:[\d:.]+z?)?": _Phrase.day,
        r"(?P<day>\d\d?)\.\s?(?P<number>\d\d?)\.\s?{year}": _Phrase.day,
        "{year}-(?P<number>0[1-9]|1[0-2])": _Phrase.part,
        r"{year}-?w(?P<week>\d\d)": lambda it: _period(
            "week", date.fromisocalendar(it.number("year"), it.number("week"), 1)
        ),
        "(?:the year|im jahr) {year}": _Phrase.years,
    }
)
_BARE = _table(
    {
        r"{year}(?:\s*[-–]\s*(?P<to_year>19[7-9]\d|20\d\d))?": _Phrase.years,
        "(?P<part>q)(?P<nth>[1-4])": _Phrase.part,
        "{part}": _Phrase.part,
        "{month}{clear}": _Phrase.part,
        "{the}{season}{clear}": _Phrase.part,
        "{weekday}": lambda it: it.weekday(it.latest),
        "the weekend|wochenende": lambda it: it.weekday(it.now.date(), "saturday", 2),
    }
)
_COMING = _table(
    {
        r"tomorrow|morgen|demain|(?<!la\s)mañana|domani|amanhã": lambda it: it.period("day", 1),
        "{day_after}": lambda it: it.period("day", 2),
        "in {count} {unit}": lambda it: it.last(-it.counts()[0]),
        r"in (?P<count>[1-9]\d{0,3})d": lambda it: it.period("day", it.counts()[0]),
        "(?:next|coming|nächsten|kommenden) {count} {unit}": lambda it: Days(
            it.now.date(), it.last(-it.counts()[1]).first + ONE_DAY
        ),
        "(?:next|coming|(?:nächste|kommende)[nrms]?|pr[óo](?:x|ss)im[ao]) {unit}": lambda it: it.period(
            away=1
        ),
        "{unit} (?:prochaine?|que (?:viene|vem)|pr[óo](?:x|ss)im[ao])": lambda it: it.period(away=1),
        "(?:(?:this|dieses|(?:on |at )?the|am) )?(?:weekend|wochenende)": lambda it: it.weekday(
            it.period("day", 6).first, "saturday", 2
        ),
        "overdue|überfällig(?:e[nrms]?)?": lambda it: Days(_FIRST_DAY, it.now.date()),
        "(?:(?:on|next|am|nächste[nrms]?) )?{weekday}": lambda it: it.weekday(it.period("day", 7).first),
    }
)
_IN_BARE = _table({r"{month}(?!['’]s\b)(?<!mars)": _Phrase.part})

# Words before a time that name a part of it; those without a measure ("early", "end of") mean the whole.
_PART = _pattern(
    "(?:(?:the )?(?:start|beginning|middle|end|course) of|the month of|early|mid|late|anfang|mitte|ende"
    f"|{{the}}(?:(?P<ordinal>{any_of(ORDINALS)}|opening)|(?P<last>last|final|closing|letzte[nrms]?)) "
    "(?:{count} )?(?:(?P<half>half|hälfte)|(?:{weekday}|(?P<saturday>weekend|wochenende))|{unit}(?<!year)(?<!jahr)(?P<plural>(?<=[a-z]s))?)"
    " (?:of|in|im|vom|des))",
    r"(?:\s+|-)",
)
_WEEK_OF = _pattern("(?:the )?(?P<span>week|weekend) (?:of|beginning|starting)(?: on)?", r"\s+")
_OR = re.compile(r"(?<!\s)(?:\s+(?:and|or|to|through|und|oder|bis)\s+|\s*[-–—]\s*)")
_TO = re.compile(r"(?<!\s)(?:\s+(?:to|till?|until|up\s+to|through|bis)\s+|\s*[-–—]\s*)")
_ONWARDS = re.compile(r"(?<!\s)\s+(?:on(?:wards?)?|forwards?)(?!\w)")
_STATE_OF = r"as[ -](?:of|at|per)\b|(?:zum )?stand\b:?(?: vom)?"
_OPENERS = [
    (kind, _pattern(words, r"\s+"), joiner)
    for kind, words, joiner in (
        ("since", "since|starting(?: in| on| from)?|seit|ab|desde|depuis|dal", None),
        ("after", "after|later than|nach(?: dem)?|después de|après|dopo|depois de", None),
        ("before", "before|prior to|earlier than|vor(?: dem)?|antes de|avant|prima di", None),
        ("until", f"until|till?|up (?:to|until)|{_STATE_OF}|no later than|bis|hasta|até|fino a", None),
        ("by", "by", None),
        ("between", "between|zwischen|entre|tra", re.compile(r"(?<!\s)\s+(?:and|und|y|et|e)\s+")),
        ("from", "from|vo[nm]", _TO),
        ("in", "in|im|during|throughout|within|während|aus(?: dem)?|für(?: den)?|en|em", _OR),
        ("on", "on|am|el|over|at(?= the weekend)", _OR),
    )
]
_BEFORE_NAME = re.compile(r"\b(?:in|im|on|am|for|für|by|until|bis)\s+\Z")
_BY = re.compile(r"\b(?:by|until|till?|before|bis)(?:\s+(?:the|zum))?\s+\Z")
_AS_OF = re.compile(_STATE_OF, re.IGNORECASE)
_FUTURE = re.compile(
    r"\b(?:what|who|when|where|which|how)(?:['’]ll|(?:\s+(?!(?:an?|the|my|his|her|our|their)\b)\w+){0,2}\s+will)\b"
    r"|\A\W*will\s+\w|\b(?:am|is|are)\s+going\s+to\b|\b(?:upcoming|wird|werden)\b"
    # "Who is in on Friday?" is about any Friday, or the next one.
    rf"|\b(?:am|is|are|does)\b[^.!?\n]{{0,80}}\s(?:on|at\s+the)\s+(?:{any_of(WEEKDAYS)}|weekend)\b",
    re.IGNORECASE,
)
_HINT = re.compile(
    rf"\d|\b(?:{any_of([*_UNITS, *MONTHS, *WEEKDAYS, *SEASONS])}|(?:to)?night|letzte\s+nacht|morning|afternoon"
    rf"|evening|{_WORDS['today']}|{_WORDS['yesterday']}|{_WORDS['day_before']})"
)


def as_of_day(query: str, *, now_ms: int, zone: tzinfo = UTC) -> tuple[str, str]:
    """Return the past day whose state *query* asks for, as in "as of April 2026", or none, and the rest of *query*."""
    named = temporal_range(query, now_ms=now_ms, zone=zone)
    if named is None or named.authored_until is None or not _AS_OF.match(query, named.start):
        return "", query
    after = datetime.fromisoformat(named.authored_until)
    day = str(after.astimezone(zone).date() - ONE_DAY) if after < _EPOCH + now_ms * MILLISECOND else ""
    rest = f"{query[: named.start]}{query[named.end :]}".strip()
    return day, rest if day and words(rest) else query


def names_limit(text: str) -> bool:
    """Whether *text* names a day at which something begins or ends: "until 3 May 2026", but not "as of 3 May 2026"."""
    named = temporal_range(text, now_ms=_LATEST_MS) if day_in(text) else None
    is_open = named and (None in named[:2] or str(named.authored_until) > f"{LAST_YEAR + 1}")
    return bool(is_open) and not as_of_day(text, now_ms=_LATEST_MS)[0]


def temporal_range(query: str, *, now_ms: int, zone: tzinfo = UTC) -> TimeRange | None:
    """
    Return the first time range that *query* names, in whole days of the user's time zone, or ``None``.

    A month, day, quarter or weekday without a year is the last one that has begun. A range up to now ends with the day
    of the question. "N weeks ago" is the week around that day, and months and years likewise. "Last week" is the last
    calendar week, Monday to Sunday. The first week of a month has its first seven days. Years from 1970 to 2100 are
    recognised; a range that begins before them is open on that side. Not recognised are events ("two days after the
    release"), the future ("tomorrow", "what will happen in December") and empty ranges ("since 2090").

    Args:
        query: Any text; none raises. A name that begins after 2 000 characters is ignored.
        now_ms: The time of the question, milliseconds since the Unix epoch.
        zone: The time zone of the question. Each end of the range is midnight with the UTC offset of its own day, so
            that ranges across a daylight saving change have correct ends.

    Raises:
        OverflowError: *now_ms* is outside the years 1 to 9999.
    """
    now = (_EPOCH + now_ms * MILLISECOND).astimezone(zone).replace(tzinfo=None)
    text = query[:MAX_END].translate(_LOWER)
    if not _HINT.search(text) or _FUTURE.search(query):
        return None
    end = 0
    for begin in _BEGIN.finditer(text, 0, MAX_START):
        start = begin.start()
        if start < end or not (reading := _reading_at(text, start, now)):
            continue
        first_day, day_after, end = reading
        is_title = text[start - 1 : start] in _QUOTES and text[end : end + 1] in _QUOTES
        if is_title or (day_after and day_after <= max(first_day or _FIRST_DAY, _FIRST_DAY)):
            continue
        return TimeRange(_midnight(first_day, zone), _midnight(day_after, zone), start, end)
    return None


def time_named(text: str, *, now_ms: int, zone: tzinfo = UTC) -> TimeRange | None:
    """
    Return the time that the whole of *text* names, or ``None``: "yesterday", "last week", "Monday", "2026-03" or "30d".

    That is what `temporal_range` recognises, also without "in", a date as `day_named` reads it, or a moment in ISO 8601.
    "Three weeks ago" is the day alone.
    """
    text = day_named(text.strip())
    is_ago = any(
        days is _Phrase.ago and pattern.fullmatch(text.translate(_LOWER)) for pattern, days in _TIMES
    )
    for typed in (text, f"in {text}") if ":" not in text else ():
        named = temporal_range(typed, now_ms=now_ms, zone=zone)
        if named and (named.start, named.end) == (0, len(typed)):
            if is_ago and named.authored_from and named.authored_until:
                begin, end = map(datetime.fromisoformat, (named.authored_from, named.authored_until))
                day = (begin + (end - begin) / 2).astimezone(zone).date()
                return TimeRange(_midnight(day, zone), _midnight(day + ONE_DAY, zone), named.start, named.end)
            return named
    if (ms := read_moment(text, now_ms, -1, zone)) is None:
        ms = parse_iso(text)  # a day at an end of the calendar, which has no moment in UTC
    if ms is None:
        return None
    is_day = len(text) == len("2026-03-31")
    first, after = (min(max(time, _EARLIEST_MS), _LATEST_MS) for time in (ms, ms + (DAY_MS if is_day else 1)))
    return TimeRange(iso_utc(first), iso_utc(after), 0, 0)


def coming_days(text: str, *, now_ms: int, zone: tzinfo = UTC) -> tuple[str, str, str] | None:
    """
    Return the first and the last day of the first time in *text*, in ISO 8601, and the rest of *text*.

    A name without a year is that of today or the next one: "Friday", "in December". With "by", "bis" or "overdue" the
    first day is empty.
    """
    now = (_EPOCH + now_ms * MILLISECOND).astimezone(zone).replace(tzinfo=None)
    lower, latests = text[:MAX_END].translate(_LOWER), (now.date(), now.date() + timedelta(days=364))
    for at in (begin.start() for begin in _BEGIN.finditer(lower)):
        kind = "on" if _BEFORE_NAME.search(lower, 0, at) else ""
        if coming := _coming_at(lower, at, now):
            found, end = coming
        elif times := [*filter(None, (_time_at(lower, at, now, latest, kind) for latest in latests))]:
            found, end = next((time for time in times if time[0].after > now.date()), times[-1])
        else:
            continue
        opener = _BY.search(lower, 0, at)
        first = "" if opener or found.first == _FIRST_DAY else str(found.first)
        last = max(found.first, found.after - ONE_DAY)
        return first, str(last), f"{text[: opener.start() if opener else at]} {text[end:]}"
    return None


def _coming_at(text: str, at: int, now: datetime) -> tuple[Days, int] | None:
    """Return the days and the end of the longest time to come at *at*; ``None`` without one before the year 10 000."""
    matches = [(match, days) for pattern, days in _COMING if (match := pattern.match(text, at))]
    if matches:
        match, days = max(matches, key=lambda pair: pair[0].end())
        with suppress(ValueError, OverflowError):
            return days(_Phrase(match.groupdict(), now, now.date())), match.end()
    return None


def _reading_at(text: str, at: int, now: datetime) -> tuple[date | None, date | None, int] | None:
    """Return the first day, the day after the last, and the end of the longest time that is named at offset *at*."""
    tomorrow = now.date() + ONE_DAY
    readings: list[tuple[date | None, date | None, int]] = []
    for kind, opener, joiner in [*_OPENERS, ("on", _PART, _OR), ("", re.compile(""), _OR)]:
        opened = opener.match(text, at)
        begin = opened.end() if opened and opener is not _PART else at
        if not opened or not (found := _pair_at(text, begin, now, kind, joiner)):
            continue
        days, end, is_pair = found
        if kind == "from" and not is_pair:
            if onwards := _ONWARDS.match(text, end):
                kind, end = "since", onwards.end()
            elif _TO.match(text, end) or text[opened.end() : end] in _ALSO_PEOPLE:
                continue
        if kind != "between" or is_pair:
            first, after = {
                "since": (days.first, tomorrow),
                "after": (days.after, tomorrow),
                "before": (None, days.first),
                "until": (None, days.after),
                "by": (None, days.after),
            }.get(kind, days)
            readings.append((first, after, end))
    return max(readings, key=lambda reading: reading[2], default=None)


def _pair_at(
    text: str, at: int, now: datetime, kind: str, joiner: re.Pattern[str] | None
) -> tuple[Days, int, bool] | None:
    """Return the days and the end of one time at *at* or of two joined times, and whether there are two."""
    first = _time_at(text, at, now, now.date(), kind or "pair")
    joined = joiner.match(text, first[1]) if first and joiner else None
    second = _time_at(text, joined.end(), now, now.date(), kind) if joined else None
    if second:  # a first name without a year is the last one before the second
        latest = min(now.date(), second[0].first)
        first = _time_at(text, at, now, latest, kind or "pair") or first
    elif not kind:
        first = _time_at(text, at, now, now.date(), kind)
    if not first or not second:
        return (*first, False) if first else None
    return Days(min(first[0].first, second[0].first), max(first[0].after, second[0].after)), second[1], True


def _time_at(text: str, at: int, now: datetime, latest: date, kind: str) -> tuple[Days, int] | None:
    """Return the days and the end of the longest time at *at*; a bare name is none without the *kind* of its opener."""
    if week := _WEEK_OF.match(text, at):
        if found := _time_at(text, week.end(), now, latest, ""):
            monday = _period("week", found[0].first)
            weekend = Days(monday.first + timedelta(days=5), monday.after)
            return monday if week["span"] == "week" else weekend, found[1]
        return None
    if kind and (part := _PART.match(text, at)) and (found := _time_at(text, part.end(), now, latest, kind)):
        return _Phrase(part.groupdict(), now, latest).part_of(found[0]), found[1]
    best: tuple[Days, int] | None = None
    for pattern, days in _TIMES + _BARE * (kind not in ("", "by")) + _IN_BARE * (kind == "in"):
        match = pattern.match(text, at)
        if match and (best is None or match.end() > best[1]):
            with suppress(ValueError, OverflowError):  # the day does not exist
                best = days(_Phrase(match.groupdict(), now, latest)), match.end()
    return best


def _midnight(day: date | None, zone: tzinfo) -> str | None:
    if day is None or day < _FIRST_DAY:
        return None
    return iso_utc((datetime(day.year, day.month, day.day, tzinfo=zone) - _EPOCH) // MILLISECOND)
