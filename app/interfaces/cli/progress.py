"""Progress bars on a terminal, and what an interrupted command has done."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

Progress = Callable[[int, int], None]  # completed, total

PATIENCE_S = 1.0  # shorter work shows no bar


@contextmanager
def progress(label: str) -> Iterator[Progress]:
    """Yield a callback that draws a bar on stderr, if that is a terminal, once the work has taken a second."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    drawing = _Drawing(label)
    try:
        yield drawing
    finally:
        drawing.stop()


@contextmanager
def interruption_explained() -> Iterator[None]:
    """Write the notes of an interrupt, which report the work done until then, to stderr."""
    try:
        yield
    except KeyboardInterrupt as interruption:
        for note in getattr(interruption, "__notes__", ()):
            sys.stderr.write(f"{note}\n")
        raise


class _Drawing:
    def __init__(self, label: str) -> None:
        self._label = label
        self._began = monotonic()
        self._bar: Bar | None = None

    def __call__(self, done: int, total: int) -> None:
        if self._bar is None and monotonic() - self._began >= PATIENCE_S:
            self._bar = self._start()
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=done, total=total)

    def stop(self) -> None:
        if self._bar is not None:
            self._bar.stop()

    def _start(self) -> Bar:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        bar = Progress(*columns, console=Console(stderr=True), transient=True)
        bar.add_task(self._label)
        bar.start()
        return bar


def stop_event() -> threading.Event:
    """Return an event that SIGINT and SIGTERM set; installed early, because a signal may arrive during startup."""
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    return stop
