"""Reports of the progress of long work."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

Progress = Callable[[int, int], None]  # completed, total
ProgressOf = Callable[[str], AbstractContextManager[Progress]]  # of a phase of the work, by its name


@contextmanager
def no_progress(phase: str) -> Iterator[Progress]:
    """Yield a callback that reports nothing."""
    yield lambda done, total: None
