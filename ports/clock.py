from __future__ import annotations

from datetime import tzinfo
from typing import Protocol


class Clock(Protocol):
    """The present; the only place it comes from."""

    def now_ms(self) -> int:
        """Epoch milliseconds, UTC. May go backwards when the machine's clock is set."""
        ...

    def zone(self) -> tzinfo:
        """The time zone of the person who asks, with the rules of each day."""
        ...
