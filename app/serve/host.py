"""Web application of a server (REST and MCP behind one access check), and the process that serves it."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
from asyncio import TimerHandle, Transport
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from logging.handlers import RotatingFileHandler
from operator import itemgetter
from pathlib import Path
from time import monotonic
from typing import Any

import h11
import uvicorn
from fastapi import FastAPI
from fastapi.middleware import Middleware
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import HANDLED_SIGNALS

from clawmem.app.client.autostart import MOST_LOG_BYTES
from clawmem.app.interfaces.mcp.over_http import McpServers
from clawmem.app.interfaces.rest.application import rest_application
from clawmem.app.interfaces.rest.routes import Runtime
from clawmem.app.interfaces.rest.security import MOST_BYTES, Gate

MOST_CONNECTIONS = 256
DRAIN_S = 10  # grace period for requests in progress
MOST_PAUSE_S = 10.0  # between two checks whether the server is idle
# A limit for incoming requests, so that idle connections cannot exhaust the connections of the server.
MOST_WAITING = 128  # connections without a complete request; half of the server's maximum
ASKING_S = 20.0  # for headers and body of a request; a local client sends the largest one in 0.1 s


def application(runtime: Runtime, names: Sequence[str], token: str) -> FastAPI:
    """
    Return the ASGI application; the threads of *runtime* start and stop with its lifespan.

    Args:
        names: See `clawmem.app.interfaces.rest.security.names_of`.
        token: The token that every request must send; empty to require none.
    """
    mcp = McpServers(runtime.dispatcher, MOST_BYTES)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        with runtime.at_work():
            async with mcp.open():
                yield

    gate = Middleware(Gate, names=names, token=token)
    app = rest_application(runtime, middleware=[gate], lifespan=lifespan)
    app.routes.extend(mcp.routes())
    app.state.hang_up = mcp.hang_up
    return app


class Patient(H11Protocol):
    """HTTP connection that is closed if no complete request arrives within `ASKING_S` seconds."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._waiting: TimerHandle | None = None

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Start the timer; if too many connections are waiting, abort the one that has waited longest."""
        super().connection_made(transport)
        self._watch()
        self._make_room()

    def data_received(self, data: bytes) -> None:
        """Process the data, and stop the timer when the request is complete."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        super().connection_lost(exc)
        self._stop()

    def _make_room(self) -> None:
        # Clients send their request at once, so the longest-idle connection is the least likely to be in use.
        if len(self.connections) <= MOST_WAITING:
            return
        others = (one for one in self.connections if isinstance(one, Patient) and one is not self)
        waiting = [(one._waiting.when(), one) for one in others if one._waiting]
        if len(waiting) >= MOST_WAITING:
            _, longest = min(waiting, key=itemgetter(0))
            longest.transport.abort()
            longest.connections.discard(longest)

    def _watch(self) -> None:
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._stop()
        elif self._waiting is None:
            self._waiting = self.loop.call_later(ASKING_S, self.transport.close)

    def _stop(self) -> None:
        if self._waiting:
            self._waiting.cancel()
            self._waiting = None


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
        if log and handlers and log.stat().st_size > MOST_LOG_BYTES:  # of warnings, which may not come soon
            handlers[0].doRollover()
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
