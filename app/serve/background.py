"""Background threads of a host process, such as a server or a watcher: maintenance lanes, file watcher, postponed jobs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from clawmem.app.services.maintenance.lanes import read_plan
from clawmem.domain.maintenance.schedule import LaneName

if TYPE_CHECKING:
    from clawmem.app.services.indexing.watching import WatchEvent
    from clawmem.app.settings.model import Settings

LOOKS_AGAIN_S = (
    60.0  # pause after an unexpected error, and between two looks for jobs left by another process
)

Complain = Callable[[BaseException], None]


class BackgroundThread:
    """
    Thread that repeats *work* until the end is requested.

    Args:
        work: Called with the event that requests the end; returns soon after it is set.
        complain: Called with each error; the next attempt follows after a pause.
    """

    def __init__(self, name: str, work: Callable[[threading.Event], None], complain: Complain) -> None:
        self._work = work
        self._complain = complain
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"clawmem-{name}", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def tell(self) -> None:
        """Request the end, without waiting."""
        self._stop.set()

    def close(self, seconds: float) -> None:
        """Request the end, and wait for it at most *seconds*."""
        self.tell()
        self._thread.join(seconds)

    def _run(self) -> None:
        while not self._stop.is_set():
            if not self._attempt():
                self._stop.wait(LOOKS_AGAIN_S)

    def _attempt(self) -> bool:
        """Return whether the work was done without an error."""
        try:
            self._work(self._stop)
        except BaseException as error:  # noqa: BLE001  a later attempt may succeed
            self._complain(error)
            return False
        return True


class Drainer(BackgroundThread):
    """
    Thread that processes the jobs that hooks leave in the spool: when it is woken, and every `LOOKS_AGAIN_S` seconds.

    After the request to end it starts no more jobs; the rest stays in the spool on disk.
    """

    def __init__(self, drain: Callable[[], None], complain: Complain) -> None:
        super().__init__("drain", lambda stop: drain(), complain)
        self._awake = threading.Event()

    def wake(self) -> None:
        """Notify the thread of new jobs."""
        self._awake.set()

    def tell(self) -> None:
        """Request the end, without waiting."""
        super().tell()
        self.wake()

    def _run(self) -> None:
        while not self._stop.is_set():
            self._awake.clear()
            self._attempt()
            self._awake.wait(LOOKS_AGAIN_S)


class WatcherThread(BackgroundThread):
    """
    Thread that keeps the vault of *settings* up to date with its folders, with its own connection.

    A requested end rolls back the current pass; the next watcher starts with a full pass.
    """

    def __init__(self, settings: Settings, complain: Complain) -> None:
        super().__init__("watch", self._watch, complain)
        self._settings = settings

    def _watch(self, stop: threading.Event) -> None:
        from clawmem.app.bootstrap.opening import open_services
        from clawmem.app.serve.watching import watch
        from clawmem.app.services.indexing.watching import FULL_PASS_EVERY_S

        with open_services(self._settings, create=False) as services:
            watch(services, stop, self._hear, every_s=FULL_PASS_EVERY_S)

    def _hear(self, news: WatchEvent) -> None:
        if news.event == "problem":
            self._complain(RuntimeError(news.text))


class LaneThread(BackgroundThread):
    """Thread that runs one maintenance lane of the vault of *settings*, with its own connection."""

    def __init__(self, name: LaneName, settings: Settings, complain: Complain) -> None:
        super().__init__(name, self._serve, complain)
        self.name = name
        self._settings = settings

    def close(self, seconds: float | None = None) -> None:
        """Request the end, and wait for it at most *seconds*, by default the drain time of the lane."""
        super().close(self.name.drain_s if seconds is None else seconds)

    def _serve(self, stop: threading.Event) -> None:
        from clawmem.app.bootstrap.opening import open_services

        with open_services(self._settings, create=False) as services:
            services.lanes().serve(self.name, stop, lambda ticked: None)


def lane_threads(settings: Settings | None, complain: Complain) -> list[LaneThread]:
    """Return a thread for each lane that *settings* enable; none without settings."""
    if settings is None:
        return []
    return [LaneThread(name, settings, complain) for name in read_plan(settings.lanes).hosted]


@contextmanager
def at_work(threads: Sequence[LaneThread]) -> Iterator[None]:
    """Run *threads* until the block ends; then wait for each one for at most its drain time."""
    for one in threads:
        one.start()
    try:
        yield
    finally:
        end_lanes(threads)


def end_lanes(threads: Sequence[LaneThread]) -> None:
    """Request the end of *threads*, and wait for each one for at most its drain time."""
    for one in threads:
        one.tell()
    for one in threads:
        one.close()
