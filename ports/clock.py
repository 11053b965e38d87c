from __future__ import annotations

from datetime import tzinfo
from typing import Protocol


class Clock(Protocol):
    """The present; the only place it comes from."""

    def now_ms(self) -> int:
        """Epoch milliseconds, UTC. May go backwards when the machine's clock is set."""
        ...

    def zone(self) -> tzinfo:
        """Return the local time zone, which has the offset of each day."""
        ...
