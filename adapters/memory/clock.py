from datetime import UTC, tzinfo

START_MS = 1_700_000_000_000  # an arbitrary time: 2023-11-14


class ManualClock:
    """Reference ``Clock`` that changes only when it is set."""

    def __init__(self, now_ms: int = START_MS, zone: tzinfo = UTC) -> None:
        self._now_ms = now_ms
        self._zone = zone

    def now_ms(self) -> int:
        return self._now_ms

    def zone(self) -> tzinfo:
        return self._zone

    def set(self, now_ms: int) -> None:
        """Set the time to *now_ms*, earlier or later."""
        self._now_ms = now_ms

    def advance(self, ms: int) -> None:
        """Move the time forward by *ms* milliseconds."""
        self._now_ms += ms
