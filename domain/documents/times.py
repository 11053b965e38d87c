"""ISO 8601 times, and the time at which a document was written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from clawmem.domain.security.patterns import Pattern

EPOCH = datetime(1970, 1, 1)
MILLISECOND = timedelta(milliseconds=1)
DAY_MS = 86_400_000
_OWN_LENGTH = len("2026-01-31T12:00:00.000Z")

# Digits that form a year outside of this range are an id, not the day a note was written.
FIRST_YEAR = 1970
LAST_YEAR = 2100

ISO = Pattern(
    r"(?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"(?:[Tt ](?P<hour>[0-9]{2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?:[.,](?P<fraction>[0-9]+))?)?"
    r" ?(?:[Zz]|(?P<sign>[+-])(?P<east_h>[0-9]{2})(?::?(?P<east_m>[0-5][0-9]))?)?)?"
)
DAY = Pattern(r"(?<![0-9])(?P<y>[0-9]{4})-(?P<m>[0-9]{2})-(?P<d>[0-9]{2})(?![0-9])")
COMPACT_DAY = Pattern(r"(?<![0-9])(?P<y>[0-9]{4})(?P<m>[0-9]{2})(?P<d>[0-9]{2})(?![0-9])")
MONTH = Pattern(r"(?<![0-9A-Za-z])(?P<y>[0-9]{4})-(?P<m>[0-9]{2})(?P<d>)(?![0-9A-Za-z]|-[0-9]{2}(?![0-9]))")


def iso_utc(ms: int) -> str:
    """
    Return *ms* since the Unix epoch as ``YYYY-MM-DDTHH:MM:SS.mmmZ``; such texts sort chronologically.

    Raises:
        OverflowError: Before year 1 or after year 9999.
    """
    return (EPOCH + ms * MILLISECOND).isoformat(timespec="milliseconds") + "Z"


def parse_iso(text: str) -> int | None:
    """
    Return the milliseconds since the Unix epoch for an ISO 8601 text, or ``None`` if it is not one.

    Accepts ``YYYY-MM-DD`` alone (midnight) or with a time of day after ``T`` or a space. Seconds and fraction are
    optional, digits beyond the millisecond are cut off. The zone is ``Z``, an offset (``+02:00``, ``+0200``, ``+02``)
    or, if missing, UTC. Surrounding blanks are ignored. The result is ``None`` for a day or hour that does not exist
    and for a time outside the years 1 to 9999.
    """
    if len(text) == _OWN_LENGTH and text[-1] == "Z" and text[10] == "T":
        return _parse_own(text)
    match = ISO.compiled.fullmatch(text.strip())
    if match is None:
        return None
    try:
        return (datetime.fromisoformat(match["day"]) + _since_midnight(match) - EPOCH) // MILLISECOND
    except (ValueError, OverflowError):
        return None


def _parse_own(text: str) -> int | None:
    """Parse the form that `iso_utc` writes. A fast path in C, because ranking parses a time for every candidate."""
    try:
        return (datetime.fromisoformat(text[:-1]) - EPOCH) // MILLISECOND
    except ValueError:
        return None


def authored_at(declared: str | None, path: str, headings: Iterable[str], modified_ms: int) -> int:
    """
    Return when a document was written, in milliseconds since the Unix epoch, from the first available of:

    1. *declared*, if `parse_iso` accepts it;
    2. a date in *path*, searched in the file name, then in the folders, nearest first: ``YYYY-MM-DD`` or
       ``YYYYMMDD``, else ``YYYY-MM`` for the first of that month; the leftmost of several in one name;
    3. the latest ``YYYY-MM-DD`` in *headings*, since a running log is as recent as its last entry;
    4. *modified_ms*.

    Dates of 2 and 3 are midnight UTC and must be existing days of the years 1970 to 2100, both included.
    """
    found = (ms for ms in _candidates(declared, path, headings) if ms is not None)
    return next(found, modified_ms)


def _since_midnight(match: re.Match[str]) -> timedelta:
    hour, minute, second = (int(match[part] or 0) for part in ("hour", "minute", "second"))
    east_hours = int(match["east_h"] or 0)
    if hour > 23 or minute > 59 or second > 59 or east_hours > 23:
        raise ValueError(match[0])
    east = timedelta(hours=east_hours, minutes=int(match["east_m"] or 0))
    fraction = int((match["fraction"] or "0")[:3].ljust(3, "0"))
    clock = timedelta(hours=hour, minutes=minute, seconds=second, milliseconds=fraction)
    return clock + east if match["sign"] == "-" else clock - east


def _candidates(declared: str | None, path: str, headings: Iterable[str]) -> Iterator[int | None]:
    yield parse_iso(declared or "")
    for segment in reversed(path.split("/")):
        yield next(_days(segment), None)
    yield max((ms for heading in headings for ms in _real_days(DAY, heading)), default=None)


def _days(segment: str) -> Iterator[int]:
    yield from _real_days(DAY, segment)
    yield from _real_days(COMPACT_DAY, segment)
    yield from _real_days(MONTH, segment)


def _real_days(pattern: Pattern, text: str) -> Iterator[int]:
    for match in pattern.compiled.finditer(text):
        ms = parse_iso(f"{match['y']}-{match['m']}-{match['d'] or '01'}")
        if ms is not None and FIRST_YEAR <= int(match["y"]) <= LAST_YEAR:
            yield ms
