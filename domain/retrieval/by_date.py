"""Notes in order of date: the newest that match a question, and those of the time that it names."""

from collections.abc import Collection, Mapping

from clawmem.domain.documents.times import parse_iso
from clawmem.domain.text.dates import TimeRange

# Confidence of the newest note of a kind ("the latest handoff"), which matches by its type and date alone. Not fitted:
# an estimate of how often the kind in the question and the type and date of the note are recognised correctly.
OF_ITS_KIND = 0.8
# Not fitted: estimates of how often the time of the question and the date of a note are recognised correctly.
IN_ITS_TIME = 0.8
OUT_OF_ITS_TIME = 0.05  # maximum for a note that was written at another time
BY_TIME_OF_FILE = 0.3  # maximum for a note that is only dated by its file
DAY_MS = 86_400_000


def newest_first(
    dated: Mapping[int, str], superseded: Collection[int] = (), undated: Collection[int] = ()
) -> list[int]:
    """
    Return documents by their dates, newest first.

    Args:
        dated: The time at which each was written, as texts that sort chronologically.
        superseded: Documents that are not current: another note has superseded them, or they are drafts, copies or
            overviews. They come last.
        undated: Documents dated only by their file, whose time may be that of a copy; they come after those with
            a date of their own.
    """
    by_date = sorted(dated, key=lambda number: (dated[number], number), reverse=True)
    return sorted(by_date, key=lambda number: (number in superseded, number in undated))


def period_name(named: TimeRange) -> str:
    """Return the name of a diary of the *named* day, month or year, such as ``2026-03``; empty for other times."""
    first = named.recorded_from or ""
    start, end = parse_iso(first), parse_iso(named.authored_until or "")
    if start is None or end is None:
        return ""
    days = round((end - start) / DAY_MS)
    if days == 1:
        return first[: len("2026-03-31")]
    if days in (365, 366) and first[5:10] == "01-01":
        return first[: len("2026")]
    return first[: len("2026-03")] if 28 <= days <= 31 and first[8:10] == "01" else ""
