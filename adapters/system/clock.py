import time
from datetime import datetime, timedelta, tzinfo


class SystemClock:
    """``Clock`` of this machine."""

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def zone(self) -> tzinfo:
        return LOCAL


class LocalZone(tzinfo):
    """Time zone of this machine, with the UTC offset of each moment by the rules of the operating system (``TZ``)."""

    def utcoffset(self, moment: datetime | None) -> timedelta:
        """Return how far the machine's clock is ahead of UTC at *moment*, a time of day on that clock."""
        if moment is None:
            return timedelta(0)
        wall = moment.replace(tzinfo=None)
        return wall - _EPOCH - timedelta(seconds=wall.timestamp())

    def dst(self, moment: datetime | None) -> timedelta | None:
        """Return ``None``: the operating system reports the whole offset only."""
        return None

    def tzname(self, moment: datetime | None) -> str:
        """Return the same name for every moment."""
        return "local"

    def fromutc(self, moment: datetime) -> datetime:
        """Return the time of day on the machine's clock at *moment*, which is in UTC."""
        seconds = (moment.replace(tzinfo=None) - _EPOCH) / timedelta(seconds=1)
        return datetime.fromtimestamp(seconds).replace(tzinfo=self)


_EPOCH = datetime(1970, 1, 1)
LOCAL = LocalZone()
