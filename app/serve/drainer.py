"""Works off in the background what hooks leave behind."""

from __future__ import annotations

import threading
from collections.abc import Callable

LOOKS_AGAIN_S = 60.0  # while another process is at the spool, and for what it left


class Drainer:
    """
    A thread that does *drain* when it is woken, and now and then by itself.

    Args:
        drain: Works off what waits.
        complain: Told what went wrong with it.
    """

    def __init__(self, drain: Callable[[], None], complain: Callable[[BaseException], None]) -> None:
        self._drain = drain
        self._complain = complain
        self._awake = threading.Event()
        self._ending = False
        self._thread = threading.Thread(target=self._run, name="clawmem-drain", daemon=True)

    def start(self) -> None:
        """Let it begin, with what was left before."""
        self._thread.start()

    def wake(self) -> None:
        """There is something to do."""
        self._awake.set()

    def close(self, seconds: float) -> None:
        """Begin nothing more, and wait *seconds* at most for what is in hand; what is left waits on the disk."""
        self._ending = True
        self.wake()
        self._thread.join(seconds)

    def _run(self) -> None:
        while not self._ending:
            self._awake.clear()
            try:
                self._drain()
            except BaseException as error:  # noqa: BLE001  the next one may go well
                self._complain(error)
            self._awake.wait(LOOKS_AGAIN_S)
