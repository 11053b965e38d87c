from datetime import tzinfo
from typing import Protocol


class Clock(Protocol):
    """Source of the current time; no other code reads the system clock."""

    def now_ms(self) -> int:
        """Return epoch milliseconds in UTC. May go backwards when the machine's clock is set."""

    def zone(self) -> tzinfo:
        """Return the local time zone, with the UTC offset of each day."""
