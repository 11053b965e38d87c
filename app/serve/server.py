"""The server process: REST and MCP behind one access check; one server per vault, announced while it runs."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from logging.handlers import RotatingFileHandler
from pathlib import Path
from secrets import token_urlsafe
from time import monotonic
from typing import NamedTuple

import uvicorn
from fastapi import FastAPI
from fastapi.middleware import Middleware
from filelock import FileLock, Timeout
from starlette.types import ASGIApp
from uvicorn.server import HANDLED_SIGNALS

from clawmem.app.bootstrap.opening import open_services
from clawmem.app.client.announcement import (
    TOKEN_VARIABLE,
    Announcement,
    announced,
    announcement_file,
    places_in,
    token_file,
    token_of,
    variables_in,
)
from clawmem.app.client.autostart import MOST_LOG_BYTES, lock_file, start_note
from clawmem.app.environment.private_files import OTHERS, write_whole
from clawmem.app.environment.process_identity import holder_id
from clawmem.app.interfaces.mcp.over_http import McpServers
from clawmem.app.interfaces.rest.application import rest_application
from clawmem.app.interfaces.rest.routes import Runtime
from clawmem.app.interfaces.rest.security import MOST_BYTES, Gate, names_of
from clawmem.app.serve.runtime import ServerRuntime
from clawmem.app.settings.model import Settings
from clawmem.app.version import VERSION
from clawmem.ports.errors import ClawmemError, ConfigError

DEFAULT_PORT = 7438
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # wildcard address → loopback address for local clients
SHORTEST = 16  # minimum number of characters of a token
LOCK_S = 0.2  # longer than `autostart.is_running` holds the lock for its check
MOST_CONNECTIONS = 1_000  # idle ones count as well
DRAIN_S = 10  # grace period for requests in progress
MOST_PAUSE_S = 10.0  # between two checks whether the server is idle


class Choices(NamedTuple):
    """
    Options of a server.

    Attributes:
        host: Address to listen on.
        port: Port to listen on; None for the default port, or any free one if that is in use.
        names: Additional host names of the server, without a port.
        without_token: Whether every process on this machine may connect without a token.
        watch: Whether the indexed folders are watched for changes.
        idle_exit_s: Seconds without a request after which the server ends; None to run until it is told to end.
        log: File for warnings and errors; None for stderr.
    """

    host: str = "127.0.0.1"
    port: int | None = None
    names: tuple[str, ...] = ()
    without_token: bool = False
    watch: bool = True
    idle_exit_s: float | None = None
    log: Path | None = None


def serve(
    settings: Settings, choices: Choices, environ: Mapping[str, str], ready: Callable[[str], None]
) -> None:
    """
    Serve the vault of *settings* until the process receives a signal, or has been idle for too long.

    Args:
        environ: Environment of this process.
        ready: Called with the URL when the server is ready.

    Raises:
        ClawmemError: Another process serves this vault.
        ConfigError: The server cannot listen at the address, or not without a token.
        VaultError: The vault does not exist or cannot be opened.
    """
    if choices.without_token and choices.host not in LOOPBACK:
        raise ConfigError(f"At {choices.host} others can ask as well: leave out --no-token.")
    os.umask(OTHERS)  # for all files created from here on; the umask is shared by all threads
    vault = settings.vault
    # Open for writing until the end: the last connection that closes checkpoints the write-ahead log.
    with (
        open_services(settings, create=False) as services,
        _server_lock(vault),
        _listener(choices) as listener,
    ):
        token = "" if choices.without_token else token_for(vault, environ)
        host, port = listener.getsockname()[:2]
        here = Announcement(
            pid=os.getpid(),
            holder=holder_id(),
            host=EVERYWHERE.get(host, host),
            port=port,
            version=VERSION,
            vault=os.path.realpath(vault),
            vault_id=services.vault.outbox.head().vault,
            variables=variables_in(environ),
            places=places_in(environ),
        )

        def appear() -> None:
            write_whole(announcement_file(vault), here.as_bytes())
            start_note(vault).unlink(missing_ok=True)
            ready(here.url)

        def vanish() -> None:
            announcement_file(vault).unlink(missing_ok=True)
            app.state.hang_up()

        runtime = ServerRuntime(vault, environ, settings, watch=choices.watch)
        app = application(runtime, names_of(here.host, here.port, choices.names), token)
        try:
            Server(app, listener, appear, vanish, choices.idle_exit_s).serve_until_told(choices.log)
        finally:
            vanish()


def token_for(vault: Path, environ: Mapping[str, str]) -> str:
    """
    Return the token for servers of *vault*; generate one if there is none. The caller must hold the server lock.

    Raises:
        ConfigError: The token in the environment or in the token file is invalid.
    """
    file = token_file(vault)
    if not file.exists() and not environ.get(TOKEN_VARIABLE):
        write_whole(file, f"{token_urlsafe(32)}\n".encode())
    token = token_of(vault, environ)
    if len(token) < SHORTEST or not token.isascii() or not token.isprintable() or " " in token:
        origin = TOKEN_VARIABLE if environ.get(TOKEN_VARIABLE) else str(file)
        raise ConfigError(
            f"{origin} holds no token: at least {SHORTEST} ASCII characters without a blank. "
            "Choose another, or remove it and one is made."
        )
    return token


@contextmanager
def _server_lock(vault: Path) -> Iterator[None]:
    """Hold the lock of the server of *vault*; raise `ClawmemError` if another process holds it."""
    try:
        with FileLock(lock_file(vault), timeout=LOCK_S, is_singleton=False):
            announcement_file(vault).unlink(missing_ok=True)  # left by a killed server
            yield
    except Timeout as error:
        server = announced(vault)
        where = f" at {server.url} (process {server.pid})" if server else ""
        running = ClawmemError(f"A server of {vault} runs already{where}. Stop it with: clawmem serve --stop")
        running.code = "SERVER_RUNNING"
        raise running from error


@contextmanager
def _listener(choices: Choices) -> Iterator[socket.socket]:
    """Listen at the chosen port; without one at the usual port, or any free one if that is in use."""
    family = socket.AF_INET6 if ":" in choices.host else socket.AF_INET
    try:
        try:
            address = choices.host, DEFAULT_PORT if choices.port is None else choices.port
            listener = socket.create_server(address, family=family)
        except OSError:
            if choices.port is not None:
                raise
            listener = socket.create_server((choices.host, 0), family=family)
    except OSError as error:
        where, remedy = choices.host, ""
        if choices.port is not None:
            where = f"{choices.host} port {choices.port}"
            remedy = " Choose another --port, or leave it out and a free one is taken."
        # The system's reason without the address that `socket.create_server` appends.
        reason = str(error.strerror or error).partition(" (while ")[0]
        raise ConfigError(f"Nothing can listen at {where}: {reason}.{remedy}") from error
    with listener:
        # Inherited by every connection. Without it, Nagle's algorithm and delayed ACKs delay the second packet of an
        # answer by 40 ms.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        yield listener


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


class Server(uvicorn.Server):
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
            http="h11",
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
