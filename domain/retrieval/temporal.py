"""The stretch of time that a question names, in English."""

from __future__ import annotations

from datetime import UTC, date, datetime, tzinfo

from clawmem.domain.documents.times import EPOCH, MILLISECOND, iso_utc
from clawmem.domain.retrieval.temporal_days import FIRST_DAY, Calendar
from clawmem.domain.retrieval.temporal_words import MAY_NAME_TIME
from clawmem.ports.named_tuple import NamedTuple

_UTC_EPOCH = EPOCH.replace(tzinfo=UTC)


class TimeRange(NamedTuple):
    """
    The time that a question names, as a `Scope` wants it, and where it does.

    ``authored_from`` is inclusive, ``authored_until`` exclusive; ``None`` leaves that side open, never both.
    The question's characters from ``start`` up to ``end`` are what was read as time.
    ``recorded_from`` is ``authored_from``, or midnight UTC of the same day where that is earlier: a note that
    gives its day without a time is recorded there.
    """

    authored_from: str | None
    authored_until: str | None
    start: int
    end: int
    recorded_from: str | None = None


def temporal_range(query: str, *, now_ms: int, zone: tzinfo = UTC) -> TimeRange | None:
    """
    The first stretch of time that *query* names, in whole days of the one who asks, or ``None``.

    A month, day, quarter or weekday without a year is the last one that has begun. What reaches up to now
    ends with the day of the question. "N weeks ago" is the week around that day, and months and years
    likewise; "last week" is the last seven days. Years are read from 1970 to 2100; what begins before them
    is open on that side. An event ("two days after the release") names no time, nor does "tomorrow", nor
    what is empty ("since 2090").

    Args:
        query: Any text; none raises. What begins after 2 000 characters is not read.
        now_ms: The moment of the question, milliseconds since the Unix epoch.
        zone: The time zone of the question. Each end of the range is midnight by the rules of its
            own day, so that a range across a change of the clocks has the right ends.

    Raises:
        OverflowError: *now_ms* lies outside years 1 to 9999.
    """
    if MAY_NAME_TIME.search(query) is None:
        return None
    # Sixty patterns to compile, which most questions do without.
    from clawmem.domain.retrieval.temporal_reader import readings

    now = (_UTC_EPOCH + now_ms * MILLISECOND).astimezone(zone).replace(tzinfo=None)
    reading = next(readings(query, Calendar(now, now.date())), None)
    if reading is None:
        return None
    first, after = _midnight(reading.first, zone), _midnight(reading.after, zone)
    undated = _midnight(reading.first, UTC)  # a note that gives its day only is recorded at this moment
    recorded = min(first, undated) if first and undated else first
    return TimeRange(first, after, reading.start, reading.end, recorded)


def _midnight(day: date | None, zone: tzinfo) -> str | None:
    if day is None or day < FIRST_DAY:
        return None
    return iso_utc((datetime(day.year, day.month, day.day, tzinfo=zone) - _UTC_EPOCH) // MILLISECOND)
