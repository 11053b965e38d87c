"""ISO 8601 times."""

from datetime import UTC, datetime, timedelta, tzinfo

EPOCH = datetime(1970, 1, 1)
MILLISECOND = timedelta(milliseconds=1)
DAY_MS = 86_400_000


def iso_utc(ms: int) -> str:
    """
    Return *ms* since the Unix epoch as ``YYYY-MM-DDTHH:MM:SS.mmmZ``; such texts sort chronologically.

    Raises:
        OverflowError: Before year 1 or after year 9999.
    """
    return (EPOCH + ms * MILLISECOND).isoformat(timespec="milliseconds") + "Z"


def parse_iso(text: str, zone: tzinfo = UTC) -> int | None:
    """
    Return the milliseconds since the Unix epoch for an ISO 8601 text, or ``None`` if it is not one.

    Accepts what `datetime.fromisoformat` does, with a blank before the zone as well. A day or time without a zone is
    in *zone*, digits beyond the millisecond are cut off, and surrounding blanks are ignored.
    """
    text = text.strip()
    if text.count(" ") == 2:
        text = "".join(text.rsplit(" ", 1))
    try:
        time = datetime.fromisoformat(text)
        time = time if time.tzinfo else time.replace(tzinfo=zone)
        return (time.astimezone(UTC).replace(tzinfo=None) - EPOCH) // MILLISECOND
    except (ValueError, OverflowError, OSError):
        return None
