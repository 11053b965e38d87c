"""The server process: hooks, REST and MCP behind one access check; one server per vault, announced while it runs."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from secrets import token_urlsafe
from time import monotonic
from types import FrameType
from typing import Any, NamedTuple

import anyio
import uvicorn
from fastapi import FastAPI
from filelock import FileLock, Timeout
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from clawmem.app.bootstrap.container import Gateways
from clawmem.app.bootstrap.opening import open_services
from clawmem.app.bootstrap.services import Services
from clawmem.app.client.hook_registry import EVENTS, HOOKS, SESSION_VARIABLES, call_named
from clawmem.app.client.request import (
    CHOICES,
    OPTIONAL_HOOKS_VARIABLE,
    TOKEN_VARIABLE,
    Announcement,
    ToolSet,
    announced,
    environment_digest,
    server_file,
    token_of,
)
from clawmem.app.environment.places import file_identity, holder_id, is_there, variable_shown
from clawmem.app.environment.private_files import OTHERS, log_error, write_whole
from clawmem.app.interfaces.hooks.handlers import HANDLERS, HookContext, fault_of_event
from clawmem.app.interfaces.hooks.protocol import answer, read_event
from clawmem.app.interfaces.hooks.sessions import Spool, do_jobs
from clawmem.app.interfaces.mcp.proxy import fault_of_message, paired
from clawmem.app.interfaces.rest.application import rest_application
from clawmem.app.interfaces.rest.security import MOST_BYTES, Json, access_control, names_of
from clawmem.app.interfaces.web.application import WebPages
from clawmem.app.operations.dispatch import Busy, Dispatcher
from clawmem.app.serve.background import BackgroundThread, at_work, lane_threads, watcher_thread
from clawmem.app.settings.model import Settings, load_settings
from clawmem.app.version import VERSION
from clawmem.ports.errors import ClawmemError, ConfigError, NotFound

DEFAULT_PORT = 7438
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # wildcard address → loopback address for local clients
SHORTEST = 16  # minimum number of characters of a token
LOCK_S = 0.2  # longer than `autostart.is_running` holds the lock for its check
MOST_CONNECTIONS = 1_000  # idle ones count as well
DRAIN_S = 10  # grace period for requests in progress
ON_THE_WAY_S = 0.3  # part of a hook client's deadline reserved for the transfer
MODELS_S = 600.0  # total time that background jobs may wait for models; no client waits for these jobs


class ServerRuntime:
    """
    Components of the server; their threads start in `at_work`.

    Args:
        environ: Environment of the server; the vault it names is overridden by *vault*.
        settings: Settings for the watcher and the maintenance lanes; ``None`` to run neither.
        watch: Whether the folders of the settings are watched.
    """

    def __init__(
        self, vault: Path, environ: Mapping[str, str], settings: Settings | None = None, *, watch: bool = True
    ) -> None:
        self.vault = vault
        # The server may be started from a client's session, but it serves all sessions alike.
        own = {name: value for name, value in environ.items() if name not in SESSION_VARIABLES}
        self.environ = {**own, "INDEX_PATH": str(vault)}
        self.dispatcher = Dispatcher(lambda: load_settings(environ=self.environ))
        self._drainer = BackgroundThread("drain", self._drain, self._log)
        self._threads = [self._drainer]
        if settings and watch:
            self._threads.append(watcher_thread(settings, self._log))
        if settings:
            self._threads += lane_threads(settings, self._log)

    def _log(self, name: str, error: BaseException | str) -> None:
        """Write an error to the error log of the vault, and a new one to the log of the server."""
        if log_error(self.vault, name, error):
            logging.getLogger("clawmem").warning("%s: %s", name, error)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Run the background threads inside the block; at its end wait a limited time for tasks in progress."""
        with at_work(self._threads):
            yield
        self.dispatcher.close()
        Gateways.checkpoint_log(str(self.vault))

    async def answer_event(self, name: str, event: str, choices: Mapping[str, str] | None) -> str:
        """
        Return the output line for *event* of the hooks that *name* names; raise `NotFound` for an unknown name.

        With `Busy` the client runs all hooks itself; their jobs are idempotent. *choices* are the caller's values for the
        variables in `CHOICES`, which replace those of the server; ``None`` for a caller that cannot send them.
        """
        environ = self.environ
        if choices is not None:
            own = {variable: value for variable, value in environ.items() if variable not in CHOICES}
            environ = own | {variable: choices[variable] for variable in CHOICES if variable in choices}
        called = call_named(name, environ.get(OPTIONAL_HOOKS_VARIABLE, ""))
        if called is None:
            raise NotFound("hook", name, suggestions=[*EVENTS, *HOOKS])
        event_read = read_event(event, environ)
        if fault := fault_of_event(event):
            self._log(name, fault)
        hooks = called.hooks_for(event_read.tool_name or event_read.source)
        contexts = []
        for hook in hooks:
            offers = [""]  # the last one before the hook's deadline counts
            context = HookContext(environ, offers.append, self._drainer.wake, self._opened)
            try:
                work = partial(HANDLERS[hook], event_read, context)
                with anyio.move_on_after(HOOKS[hook].deadline_s - ON_THE_WAY_S):
                    offers.append(await self.dispatcher.in_thread(work))
            except Busy:
                raise
            except Exception as error:  # noqa: BLE001  a client always gets an answer
                self._log(hook, error)
                offers.append("")
            contexts.append(offers[-1])
        return answer(called.event, "\n\n".join(filter(None, contexts)))

    def _drain(self, stop: threading.Event) -> None:
        try:
            if Spool(self.vault).jobs() and self.vault.exists():
                do_jobs(self.vault, self.environ, MODELS_S)
        finally:
            Gateways.checkpoint_log(str(self.vault))

    @contextmanager
    def _opened(self) -> Iterator[Services | None]:
        """Yield the services that a thread has open; ``None`` without a vault. Invalid settings are ignored."""
        lenient = partial(load_settings, environ=self.environ, lenient=True)
        with self.dispatcher.services(lenient) if is_there(self.vault) else nullcontext() as services:
            yield services


class Choices(NamedTuple):
    """Options of a server."""

    host: str = "127.0.0.1"  # address to listen on
    port: int | None = None  # None for the default port, or any free one if that is in use
    names: tuple[str, ...] = ()  # additional host names of the server, without a port
    without_token: bool = False  # whether every process on this machine may connect without a token
    watch: bool = True  # whether the indexed folders are watched for changes
    idle_exit_s: float | None = None  # seconds without a request after which the server ends


Ready = Callable[[Announcement], object]


def serve(settings: Settings, choices: Choices, environ: Mapping[str, str], ready: Ready) -> None:
    """
    Serve the vault of *settings* until the process receives a signal, or has been idle for too long.

    *ready* gets its announcement. Raises `ClawmemError` if another process serves this vault, `ConfigError` if the
    server cannot listen at the address, or not without a token, and `VaultError` if the vault cannot be opened.
    """
    if choices.without_token and choices.host not in ("127.0.0.1", "::1", "localhost"):
        raise ConfigError(f"At {choices.host} others can ask as well: leave out --no-token.")
    os.umask(OTHERS)  # for all files created from here on; the umask is shared by all threads
    vault = settings.vault
    # Open for writing until the end: the last connection that closes checkpoints the write-ahead log.
    with open_services(settings, create=False), _server_lock(vault), _listener(choices) as listener:
        token, file = "", server_file(vault, "token")
        if not choices.without_token:
            if not file.exists() and not environ.get(TOKEN_VARIABLE):
                write_whole(file, f"{token_urlsafe(32)}\n".encode())
            token = token_of(vault, environ)
            if len(token) < SHORTEST or not token.isascii() or not token.isprintable() or " " in token:
                origin = variable_shown(TOKEN_VARIABLE, environ) if environ.get(TOKEN_VARIABLE) else str(file)
                raise ConfigError(
                    f"{origin} holds no token: at least {SHORTEST} ASCII characters without a blank. "
                    "Choose another, or remove it and one is made."
                )
        # Every connection inherits it; without it the second packet of an answer is delayed by 40 ms.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        host, port = listener.getsockname()[:2]
        here = Announcement(
            pid=os.getpid(),
            holder=holder_id(),
            host=EVERYWHERE.get(host, host),
            port=port,
            version=VERSION,
            vault=os.path.realpath(vault),
            environment=environment_digest(environ),
            listens=host,
        )

        # Configured before a library configures logging with colours and source locations.
        logging.basicConfig(format="%(asctime)s %(name)s: %(message)s", level=logging.WARNING)
        # Requests that the end of the server cancelled are no faults.
        logging.getLogger("uvicorn.error").addFilter(
            lambda record: not (record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError))
        )
        runtime = ServerRuntime(vault, environ, settings, watch=choices.watch)
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # uvicorn raises a signal again at the end
        with suppress(KeyboardInterrupt):
            Server(runtime, here, choices, token, ready).run(sockets=[listener])


@contextmanager
def _server_lock(vault: Path) -> Iterator[None]:
    """Hold the lock of the server of *vault*; raise `ClawmemError` if another process holds it."""
    try:
        with FileLock(server_file(vault, "server-lock"), timeout=LOCK_S, is_singleton=False):
            server_file(vault, "server").unlink(missing_ok=True)  # left by a killed server
            yield
    except Timeout as error:
        server = announced(vault)
        where = f" at {server.url} (process {server.pid})" if server else ""
        stop = "Stop it with: clawmem serve --stop"
        raise ClawmemError(f"A server of {vault} runs already{where}. {stop}") from error


def _listener(choices: Choices) -> socket.socket:
    """Return a socket at the chosen port; without one at the usual port, or any free one if that is in use."""
    family = socket.AF_INET6 if ":" in choices.host else socket.AF_INET
    usual = DEFAULT_PORT if choices.port is None else choices.port
    try:
        with suppress(*([OSError] if choices.port is None else [])):
            return socket.create_server((choices.host, usual), family=family)
        return socket.create_server((choices.host, 0), family=family)
    except OSError as error:
        where = choices.host if choices.port is None else f"{choices.host} port {choices.port}"
        remedy = "Choose another --port, or leave it out and a free one is taken."
        raise ConfigError(f"Nothing can listen at {where}: {error.strerror or error}. {remedy}") from error


@dataclass
class ToolServers:
    """
    ASGI application of all tool sets at ``/mcp``, without sessions, so that a client that disconnects leaves no state.

    The MCP library (27 MB) is loaded with the first request.
    """

    dispatcher: Dispatcher
    _wanted: anyio.Event = field(default_factory=anyio.Event)
    _ready: anyio.Event = field(default_factory=anyio.Event)
    _managers: dict[str, Any] = field(default_factory=dict)

    async def run(self) -> None:
        """Load the servers when a request waits for them, and run them until this task is cancelled."""

        def loaded() -> dict[str, Any]:
            from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
            from sse_starlette.sse import AppStatus

            from clawmem.app.interfaces.mcp.server import MemoryServer

            # At the end of the server, calls in progress get their results.
            AppStatus.enable_automatic_graceful_drain = False
            servers = {tools.path: MemoryServer(self.dispatcher, tools).protocol for tools in ToolSet}
            return {
                path: StreamableHTTPSessionManager(server, stateless=True, max_request_body_size=MOST_BYTES)
                for path, server in servers.items()
            }

        await self._wanted.wait()
        self._managers = await anyio.to_thread.run_sync(loaded)
        async with AsyncExitStack() as stack:
            for manager in self._managers.values():
                await stack.enter_async_context(manager.run())
            self._ready.set()
            await anyio.sleep_forever()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = paired(await Request(scope, receive).body())
        if scope["method"] == "POST" and (fault := fault_of_message(body)):
            await Json(fault, 400)(scope, receive, send)
            return
        parts = [{"type": "http.request", "body": body}]

        async def replay() -> Message:
            return parts.pop() if parts else await receive()

        self._wanted.set()
        await self._ready.wait()
        await self._managers[scope["path"]].asgi_app(scope, replay, send)


class Server(uvicorn.Server):
    """
    Uvicorn server that is announced while it accepts requests; it ends when it has been idle for too long, and when the
    file of its vault was removed or replaced. Maintenance lanes and the watcher are no requests.

    Args:
        runtime: Its threads start and stop with the server.
        token: The token that every request must send; empty to require none.
        ready: Called with the announcement when the server is ready.
    """

    def __init__(
        self, runtime: ServerRuntime, here: Announcement, choices: Choices, token: str, ready: Ready
    ) -> None:
        tools, self._pages = ToolServers(runtime.dispatcher), WebPages(runtime.dispatcher)

        @asynccontextmanager
        async def lifespan(app: FastAPI) -> AsyncIterator[None]:
            with runtime.at_work():
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(tools.run)
                    yield
                    tasks.cancel_scope.cancel()

        app = rest_application(
            runtime.dispatcher,
            runtime.answer_event,
            middleware=access_control(names_of(here.host, here.port, choices.names), token),
            lifespan=lifespan,
        )
        app.routes.extend(Route(tool_set.path, tools) for tool_set in ToolSet)
        app.routes.extend(self._pages.routes)
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
        self._vault, self._here, self._ready = runtime.vault, here, ready
        self._idle_exit_s, self._identity = choices.idle_exit_s, file_identity(runtime.vault)
        self._answered, self._idle_since = 0, monotonic()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start answering requests, then announce the server."""
        await super().startup(sockets)
        write_whole(server_file(self._vault, "server"), json.dumps(self._here._asdict()).encode())
        server_file(self._vault, "server-start").unlink(missing_ok=True)
        self._ready(self._here)

    async def on_tick(self, counter: int) -> bool:
        """Return whether to shut down; called ten times a second."""
        if self.server_state.tasks or self.server_state.total_requests != self._answered:
            self._answered, self._idle_since = self.server_state.total_requests, monotonic()
        is_idle = self._idle_exit_s is not None and monotonic() - self._idle_since > self._idle_exit_s
        # The write-ahead log next to the file belongs to the file that was opened: the last connection deletes it.
        is_replaced = file_identity(self._vault) != self._identity
        if is_replaced and not self.should_exit:
            logging.getLogger(__name__).warning("%s was removed or replaced; the server ends.", self._vault)
        return await super().on_tick(counter) or is_idle or is_replaced

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Shut down; a second Ctrl-C ends the process at once, which is safe because every write is atomic."""
        if self.should_exit and sig == signal.SIGINT:
            os._exit(0)
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Withdraw the announcement, then stop answering requests."""
        server_file(self._vault, "server").unlink(missing_ok=True)
        self._pages.end()
        await super().shutdown(sockets)
