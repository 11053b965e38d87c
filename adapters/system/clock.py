from __future__ import annotations

import time


class SystemClock:
    """``Clock`` of this machine."""

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000
