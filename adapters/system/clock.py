from __future__ import annotations

import time
from datetime import datetime


class SystemClock:
    """``Clock`` of this machine."""

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000


def local_hour(at_ms: int) -> int:
    """The hour of the day, 0 to 23, that a clock on the wall of this machine shows at a moment."""
    return datetime.fromtimestamp(at_ms / 1000).astimezone().hour
