"""Folder watcher as a thread of the server."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clawmem.app.services.indexing.watching import WatchEvent
    from clawmem.app.settings.model import Settings

LOOKS_AGAIN_S = 60.0  # pause after an unexpected error


class WatcherThread:
    """
    Thread that keeps the vault of *settings* up to date with its folders, with its own connection.

    Args:
        complain: Called with each error.
    """

    def __init__(self, settings: Settings, complain: Callable[[BaseException], None]) -> None:
        self._settings = settings
        self._complain = complain
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="clawmem-watch", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def close(self, seconds: float) -> None:
        """Roll back the current pass, and wait at most *seconds* for that; the next watcher starts with a full pass."""
        self._stop.set()
        self._thread.join(seconds)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._watch()
            except BaseException as error:  # noqa: BLE001  a later attempt may succeed
                self._complain(error)
                self._stop.wait(LOOKS_AGAIN_S)

    def _watch(self) -> None:
        from clawmem.app.bootstrap.opening import open_services
        from clawmem.app.serve.watching import watch
        from clawmem.app.services.indexing.watching import FULL_PASS_EVERY_S

        with open_services(self._settings, create=False) as services:
            watch(services, self._stop, self._hear, every_s=FULL_PASS_EVERY_S)

    def _hear(self, news: WatchEvent) -> None:
        if news.event == "problem":
            self._complain(RuntimeError(news.text))
