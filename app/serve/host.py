"""Process of the web server: listening, announcement and graceful shutdown."""

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
DRAIN_S = 10  # grace period for requests in progress


class Host(uvicorn.Server):
    """
    Uvicorn server that serves *app* on *listener* until it receives a signal.

    Args:
        appear: Called when the server starts to accept requests.
        vanish: Called when the server stops accepting requests; requests in progress are still answered.
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
            proxy_headers=False,  # there is no trusted reverse proxy
            server_header=False,
            limit_concurrency=MOST_CONNECTIONS,
            timeout_graceful_shutdown=DRAIN_S,
        )
        super().__init__(config)
        self._listener = listener
        self._appear = appear
        self._vanish = vanish

    def serve_until_told(self) -> None:
        """Serve; return when all requests in progress are answered or the grace period has ended."""
        # Configured before a library configures logging with colours and source locations.
        logging.basicConfig(format="%(asctime)s %(name)s: %(message)s", level=logging.WARNING)
        self.run(sockets=[self._listener])

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start answering requests, then announce the server."""
        await super().startup(sockets)
        self._appear()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Withdraw the announcement, then stop answering requests."""
        self._vanish()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals as shutdown requests without raising them again after a graceful shutdown."""
        before = {number: signal.signal(number, self.handle_exit) for number in HANDLED_SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
