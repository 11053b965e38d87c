"""Maintenance lanes as threads of a host process, such as a server or a watcher."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from clawmem.app.services.maintenance.lane_plan import read_plan
from clawmem.domain.maintenance.schedule import LaneName

if TYPE_CHECKING:
    from clawmem.app.settings.model import Settings

LOOKS_AGAIN_S = 60.0  # pause after an unexpected error

Complain = Callable[[BaseException], None]


class LaneThread:
    """
    Thread that runs one maintenance lane of the vault of *settings*, with its own connection.

    Args:
        complain: Called with each error.
    """

    def __init__(self, name: LaneName, settings: Settings, complain: Complain) -> None:
        self.name = name
        self._settings = settings
        self._complain = complain
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"clawmem-{name}", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def tell(self) -> None:
        """Request the end of the lane before its next effect, without waiting."""
        self._stop.set()

    def close(self) -> None:
        """Request the end of the lane, and wait for at most its drain time."""
        self.tell()
        self._thread.join(self.name.drain_s)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._work()
            except BaseException as error:  # noqa: BLE001  a later attempt may succeed
                self._complain(error)
                self._stop.wait(LOOKS_AGAIN_S)

    def _work(self) -> None:
        from clawmem.app.bootstrap.opening import open_services

        with open_services(self._settings, create=False) as services:
            services.lanes().serve(self.name, self._stop, lambda ticked: None)


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
        for one in threads:
            one.tell()
        for one in threads:
            one.close()
