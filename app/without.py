"""Imports of others that look for more than we use of them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without(name: str) -> Iterator[None]:
    """Meanwhile the package *name* is not there for whoever would import it if it were; once it is, it stays."""
    if name in sys.modules:
        yield
        return
    sys.modules[name] = None  # type: ignore[assignment]  # how a module is said to be missing
    try:
        yield
    finally:
        del sys.modules[name]
