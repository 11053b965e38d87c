"""Process of the web server: listening, announcement and graceful shutdown."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from logging.handlers import RotatingFileHandler
from pathlib import Path
from time import monotonic

import uvicorn
from starlette.types import ASGIApp
from uvicorn.server import HANDLED_SIGNALS

from clawmem.app.client.autostart import MOST_LOG_BYTES
from clawmem.app.serve.patience import Patient

MOST_CONNECTIONS = 256
DRAIN_S = 10  # grace period for requests in progress
MOST_PAUSE_S = 10.0  # between two checks whether the server is idle


class Host(uvicorn.Server):
    """
    Uvicorn server that serves *app* on *listener* until it receives a signal, or has been idle for too long.

    Args:
        appear: Called when the server starts to accept requests.
        vanish: Called when the server stops accepting requests; requests in progress are still answered.
        idle_exit_s: Seconds without a new request and without one in progress after which the server ends.
    """

    def __init__(
        self,
        app: ASGIApp,
        listener: socket.socket,
        appear: Callable[[], None],
        vanish: Callable[[], None],
        idle_exit_s: float | None = None,
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
        self._idle_exit_s = idle_exit_s
        self._idle_watch: asyncio.Task[None] | None = None

    def serve_until_told(self, log: Path | None = None) -> None:
        """Serve; return when all requests in progress are answered or the grace period has ended."""
        # Configured before a library configures logging with colours and source locations.
        handlers = [RotatingFileHandler(log, maxBytes=MOST_LOG_BYTES, backupCount=1)] if log else None
        logging.basicConfig(
            format="%(asctime)s %(name)s: %(message)s", level=logging.WARNING, handlers=handlers
        )
        self.run(sockets=[self._listener])

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start answering requests, then announce the server."""
        await super().startup(sockets)
        self._appear()
        if self._idle_exit_s is not None:
            self._idle_watch = asyncio.create_task(self._exit_when_idle(self._idle_exit_s))

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Withdraw the announcement, then stop answering requests."""
        self._vanish()
        await super().shutdown(sockets)

    async def _exit_when_idle(self, seconds: float) -> None:
        """Request the shutdown after *seconds* without a request; lanes and the watcher do not count."""
        answered, since = 0, monotonic()
        while monotonic() - since < seconds:
            await asyncio.sleep(min(MOST_PAUSE_S, seconds / 4))
            if self.server_state.tasks or self.server_state.total_requests != answered:
                answered, since = self.server_state.total_requests, monotonic()
        self.should_exit = True

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals as shutdown requests without raising them again after a graceful shutdown."""
        before = {number: signal.signal(number, self.handle_exit) for number in HANDLED_SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
