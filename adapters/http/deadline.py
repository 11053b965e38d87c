from __future__ import annotations

import time
from collections.abc import Callable

TimeLeft = Callable[[], float]
"""Returns the seconds that the next request may take; zero or negative when the time is over."""


def deadline(timeout_s: float) -> TimeLeft:
    """Return a function that gives the seconds left of *timeout_s*, counted from now."""
    until = time.monotonic() + timeout_s
    return lambda: until - time.monotonic()


def per_request(timeout_s: float) -> TimeLeft:
    """Return a function that gives *timeout_s* for every request."""
    return lambda: timeout_s
