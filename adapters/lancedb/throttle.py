from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

_REST = 9  # the pause is nine times the duration, so maintenance takes at most a tenth of the time


class MaintenanceThrottle:
    """Throttle for maintenance in this process, based on the duration of its last run."""

    def __init__(self) -> None:
        self._not_before = 0.0

    def allows(self) -> bool:
        """Whether the pause is over."""
        return time.monotonic() >= self._not_before

    @contextmanager
    def measured(self) -> Iterator[None]:
        """Measure the maintenance that runs in the block."""
        began = time.monotonic()
        try:
            yield
        finally:
            now = time.monotonic()
            self._not_before = now + _REST * (now - began)
