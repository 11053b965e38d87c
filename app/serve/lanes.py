"""The lanes of upkeep as threads of a process that is there for something else: a server, a watcher."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from clawmem.app.services.maintenance.lane_plan import read_plan
from clawmem.domain.maintenance.schedule import LaneName

if TYPE_CHECKING:
    from clawmem.app.settings import Settings

LOOKS_AGAIN_S = 60.0  # after something that it does not know how to go on from

Complain = Callable[[BaseException], None]


class LaneThread:
    """
    Lets one lane of the vault of *settings* work at its own pace, with a connection of its own.

    Args:
        complain: Told what went wrong with it.
    """

    def __init__(self, name: LaneName, settings: Settings, complain: Complain) -> None:
        self.name = name
        self._settings = settings
        self._complain = complain
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"clawmem-{name}", daemon=True)

    def start(self) -> None:
        """Let it begin."""
        self._thread.start()

    def tell(self) -> None:
        """Let it end before its next effect; nobody waits for that yet."""
        self._stop.set()

    def close(self) -> None:
        """Let it end, and wait for as long as the lane's drain allows."""
        self.tell()
        self._thread.join(self.name.drain_s)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._work()
            except BaseException as error:  # noqa: BLE001  it may go better later
                self._complain(error)
                self._stop.wait(LOOKS_AGAIN_S)

    def _work(self) -> None:
        from clawmem.app.opened import open_services

        with open_services(self._settings, create=False) as services:
            services.lanes().serve(self.name, self._stop, lambda ticked: None)


def lane_threads(settings: Settings | None, complain: Complain) -> list[LaneThread]:
    """A thread for each lane that the settings turn on; none without settings, or where they make no sense."""
    if settings is None:
        return []
    try:
        hosted = read_plan(settings.lanes).hosted
    except Exception as error:  # noqa: BLE001  no reason not to serve
        complain(error)
        return []
    return [LaneThread(name, settings, complain) for name in hosted]


@contextmanager
def at_work(threads: Sequence[LaneThread]) -> Iterator[None]:
    """Let them work until the block ends; then wait for each as long as its drain allows."""
    for one in threads:
        one.start()
    try:
        yield
    finally:
        for one in threads:
            one.tell()
        for one in threads:
            one.close()
