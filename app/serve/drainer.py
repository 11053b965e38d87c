"""Background thread that processes the jobs that hooks leave in the spool."""

from __future__ import annotations

import threading
from collections.abc import Callable

LOOKS_AGAIN_S = 60.0  # polling interval, for jobs left by another process


class Drainer:
    """
    Thread that calls *drain* when it is woken, and at least every `LOOKS_AGAIN_S` seconds.

    Args:
        drain: Processes the waiting jobs.
        complain: Called with each error.
    """

    def __init__(self, drain: Callable[[], None], complain: Callable[[BaseException], None]) -> None:
        self._drain = drain
        self._complain = complain
        self._awake = threading.Event()
        self._ending = False
        self._thread = threading.Thread(target=self._run, name="clawmem-drain", daemon=True)

    def start(self) -> None:
        """Start the thread, beginning with jobs left from before."""
        self._thread.start()

    def wake(self) -> None:
        """Notify the thread of new jobs."""
        self._awake.set()

    def close(self, seconds: float) -> None:
        """Start no more jobs, and wait at most *seconds* for the current one; the rest stays in the spool on disk."""
        self._ending = True
        self.wake()
        self._thread.join(seconds)

    def _run(self) -> None:
        while not self._ending:
            self._awake.clear()
            try:
                self._drain()
            except BaseException as error:  # noqa: BLE001  the next attempt may succeed
                self._complain(error)
            self._awake.wait(LOOKS_AGAIN_S)
