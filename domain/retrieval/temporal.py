"""The time range that a question names, in English."""

from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import NamedTuple

from clawmem.domain.documents.times import EPOCH, MILLISECOND, iso_utc
from clawmem.domain.retrieval.temporal_days import FIRST_DAY, Calendar
from clawmem.domain.retrieval.temporal_reader import readings
from clawmem.domain.retrieval.temporal_words import MAY_NAME_TIME
from clawmem.domain.security.patterns import AnyCase, Pattern

# "From September" means the coming one if it begins within this time; "since September" never does. Not fitted.
SOON = timedelta(days=62)
_FROM_MONTH = Pattern(r"(?i:from)\s+[^\W\d]+")
# A verb or an adjective that places the named time after the question.
_FUTURE = AnyCase(
    r"\b(?:what|who|when|where|which|how)(?:['’]ll|(?:\s+(?!(?:an?|the|my|his|her|our|their)\b)\w+){0,2}\s+will)\b|\A\W*will\s+\w|\b(?:am|is|are)\s+going\s+to\b"
    r"|\b(?:upcoming|wird|werden)\b",
    "will|['’]ll|going|upcoming|wird|werden",
)
_UTC_EPOCH = EPOCH.replace(tzinfo=UTC)


class TimeRange(NamedTuple):
    """
    The time range that a question names, in the form of a `Scope`, and its position in the question.

    ``authored_from`` is inclusive, ``authored_until`` exclusive; ``None`` leaves that side open, never both. The
    characters of the question from ``start`` up to ``end`` name the time. ``recorded_from`` is ``authored_from`` or,
    if earlier, midnight UTC of the same day: notes with a day but no time are recorded at that moment.
    """

    authored_from: str | None
    authored_until: str | None
    start: int
    end: int
    recorded_from: str | None = None


def is_within(moment: str, named: TimeRange) -> bool:
    """Whether *moment*, an ISO time, lies in the *named* time."""
    after = named.authored_from is None or moment >= (named.recorded_from or named.authored_from)
    return after and (named.authored_until is None or moment < named.authored_until)


def temporal_range(query: str, *, now_ms: int, zone: tzinfo = UTC) -> TimeRange | None:
    """
    Return the first time range that *query* names, in whole days of the user's time zone, or ``None``.

    A month, day, quarter or weekday without a year is the last one that has begun. A range up to now ends with the day
    of the question. "N weeks ago" is the week around that day, and months and years likewise; "last week" is the last
    seven days. Years from 1970 to 2100 are recognised; a range that begins before them is open on that side. Not
    recognised are events ("two days after the release"), the future ("tomorrow", "what will happen in December", in
    August "from September") and empty ranges ("since 2090").

    Args:
        query: Any text; none raises. A name that begins after 2 000 characters is ignored.
        now_ms: The time of the question, milliseconds since the Unix epoch.
        zone: The time zone of the question. Each end of the range is midnight with the UTC offset of its own day, so
            that ranges across a daylight saving change have correct ends.

    Raises:
        OverflowError: *now_ms* is outside the years 1 to 9999.
    """
    if MAY_NAME_TIME.search(query) is None or _FUTURE.search(query):
        return None
    now = (_UTC_EPOCH + now_ms * MILLISECOND).astimezone(zone).replace(tzinfo=None)
    reading = next(readings(query, Calendar(now, now.date())), None)
    if reading is None or _is_coming(query[reading.start : reading.end], reading.first, now.date()):
        return None
    first, after = _midnight(reading.first, zone), _midnight(reading.after, zone)
    undated = _midnight(reading.first, UTC)  # notes with a day but no time are recorded at this moment
    recorded = min(first, undated) if first and undated else first
    return TimeRange(first, after, reading.start, reading.end, recorded)


def _is_coming(phrase: str, first: date | None, today: date) -> bool:
    """Whether *phrase* says that something begins with a month that is about to come: in August "from September"."""
    if first is None or not _FROM_MONTH.compiled.fullmatch(phrase.strip()):
        return False
    return timedelta() < date(first.year + 1, first.month, 1) - today <= SOON


def _midnight(day: date | None, zone: tzinfo) -> str | None:
    if day is None or day < FIRST_DAY:
        return None
    return iso_utc((datetime(day.year, day.month, day.day, tzinfo=zone) - _UTC_EPOCH) // MILLISECOND)
