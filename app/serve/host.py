"""The web server's process: it listens, says so, and ends in order when it is told to."""

from __future__ import annotations

import logging
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp
from uvicorn.server import HANDLED_SIGNALS

from clawmem.app.serve.patience import Patient

MOST_CONNECTIONS = 256
DRAIN_S = 10  # for answers that are under way


class Host(uvicorn.Server):
    """
    Serves *app* at *listener* until a signal comes.

    Args:
        appear: Called when questions are answered from now on.
        vanish: Called when none will be any more; those under way still are.
    """

    def __init__(
        self, app: ASGIApp, listener: socket.socket, appear: Callable[[], None], vanish: Callable[[], None]
    ) -> None:
        config = uvicorn.Config(
            app,
            http=Patient,
            loop="asyncio",
            ws="none",
            lifespan="on",
            log_config=None,
            log_level="warning",
            access_log=False,
            proxy_headers=False,  # nobody stands in front of it whose word would count
            server_header=False,
            limit_concurrency=MOST_CONNECTIONS,
            timeout_graceful_shutdown=DRAIN_S,
        )
        super().__init__(config)
        self._listener = listener
        self._appear = appear
        self._vanish = vanish

    def serve_until_told(self) -> None:
        """Serve; returns when everything that was begun is answered, or was given up."""
        # Before a library does it, in colours and with the source of every line.
        logging.basicConfig(format="%(asctime)s %(name)s: %(message)s", level=logging.WARNING)
        self.run(sockets=[self._listener])

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer, then be found."""
        await super().startup(sockets)
        self._appear()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Be found no more, then stop answering."""
        self._vanish()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals ask for the end, and are not raised again after it: the end was in order."""
        before = {number: signal.signal(number, self.handle_exit) for number in HANDLED_SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
