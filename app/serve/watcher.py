"""The watcher as a thread of the server."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clawmem.app.services.indexing.watching import WatchEvent
    from clawmem.app.settings import Settings

LOOKS_AGAIN_S = 60.0  # after something that it does not know how to go on from


class WatcherThread:
    """
    Keeps the vault of *settings* up with its folders, with a connection of its own.

    Args:
        complain: Told what went wrong with it.
    """

    def __init__(self, settings: Settings, complain: Callable[[BaseException], None]) -> None:
        self._settings = settings
        self._complain = complain
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="clawmem-watch", daemon=True)

    def start(self) -> None:
        """Let it begin."""
        self._thread.start()

    def close(self, seconds: float) -> None:
        """Undo what is under way, and wait *seconds* at most for that: the next watcher begins with everything."""
        self._stop.set()
        self._thread.join(seconds)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._watch()
            except BaseException as error:  # noqa: BLE001  it may go better later
                self._complain(error)
                self._stop.wait(LOOKS_AGAIN_S)

    def _watch(self) -> None:
        from clawmem.app.opened import open_services
        from clawmem.app.services.indexing.watching import FULL_PASS_EVERY_S
        from clawmem.app.watching import watch

        with open_services(self._settings, create=False) as services:
            watch(services, self._stop, self._hear, every_s=FULL_PASS_EVERY_S)

    def _hear(self, news: WatchEvent) -> None:
        if news.event == "problem":
            self._complain(RuntimeError(news.text))
