from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

_REST = 9  # times as long as it took is waited before it is done again: a tenth of the time at most


class Pace:
    """When upkeep may run again, by what it cost the last time in this process."""

    def __init__(self) -> None:
        self._not_before = 0.0

    def allows(self) -> bool:
        """Whether it has rested long enough."""
        return time.monotonic() >= self._not_before

    @contextmanager
    def measured(self) -> Iterator[None]:
        """Upkeep that is running."""
        began = time.monotonic()
        try:
            yield
        finally:
            now = time.monotonic()
            self._not_before = now + _REST * (now - began)
