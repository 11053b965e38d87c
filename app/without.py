"""Prevention of imports that a third-party package makes only if they are available."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without(name: str) -> Iterator[None]:
    """Hide package *name* from imports inside the block, unless it is already imported."""
    if name in sys.modules:
        yield
        return
    sys.modules[name] = None  # type: ignore[assignment]  # makes imports of the package fail
    try:
        yield
    finally:
        del sys.modules[name]
