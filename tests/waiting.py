"""Wait until a condition holds."""

from __future__ import annotations

import time
from collections.abc import Callable


def eventually(holds: Callable[[], object], seconds: float = 60.0) -> None:
    """Fail unless *holds* returns something true within *seconds*."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"not within {seconds} seconds"
        time.sleep(0.02)
