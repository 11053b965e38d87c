from __future__ import annotations

import time
from collections.abc import Callable

Left = Callable[[], float]
"""The seconds that the next request may take; not positive when it is too late."""


def deadline(timeout_s: float) -> Left:
    """What is left of *timeout_s* from now on."""
    until = time.monotonic() + timeout_s
    return lambda: until - time.monotonic()


def afresh(timeout_s: float) -> Left:
    """All of *timeout_s* for every request."""
    return lambda: timeout_s
