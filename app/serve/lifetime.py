"""Lifetime of a server, from the command to shutdown: one server per vault, announced while it runs."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from secrets import token_urlsafe
from typing import NamedTuple

from filelock import FileLock, Timeout

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
from clawmem.app.client.autostart import lock_file, start_note
from clawmem.app.environment.private_files import OTHERS, write_whole
from clawmem.app.environment.process_identity import holder_id
from clawmem.app.interfaces.rest.security import names_of
from clawmem.app.serve.host import Host, application
from clawmem.app.serve.runtime import ServerRuntime
from clawmem.app.settings.model import Settings
from clawmem.app.version import VERSION
from clawmem.ports.errors import ClawmemError, ConfigError

DEFAULT_PORT = 7438
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # wildcard address → loopback address for local clients
SHORTEST = 16  # minimum number of characters of a token
LOCK_S = 0.2  # longer than `autostart.is_running` holds the lock for its check


class ServerRunning(ClawmemError):
    """Another server is already running for the vault."""

    code = "SERVER_RUNNING"

    def __init__(self, vault: Path, there: Announcement | None) -> None:
        where = f" at {there.url} (process {there.pid})" if there else ""
        super().__init__(f"A server of {vault} runs already{where}. Stop it with: clawmem serve --stop")


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
    settings: Settings, choices: Choices, environ: Mapping[str, str], tell: Callable[[str], None]
) -> None:
    """
    Serve the vault of *settings* until the process receives a signal, or has been idle for too long.

    Args:
        environ: Environment of this process.
        tell: Called with the URL when the server is ready.

    Raises:
        ServerRunning: Another process serves this vault.
        ConfigError: The server cannot listen at the address, or not without a token.
        VaultError: The vault does not exist or cannot be opened.
    """
    if choices.without_token and choices.host not in LOOPBACK:
        raise ConfigError(f"At {choices.host} others can ask as well: leave out --no-token.")
    os.umask(OTHERS)  # for all files created from here on; the umask is shared by all threads
    # Open for writing until the end: the last connection that closes checkpoints the write-ahead log.
    with open_services(settings, create=False) as services, _alone(settings.vault):
        token = "" if choices.without_token else token_for(settings.vault, environ)
        with _listening(choices) as listener:
            here = _announcement(settings.vault, services.vault.outbox.head().vault, listener, environ)
            _answer(settings, here, choices, token, listener, environ, tell)


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
def _alone(vault: Path) -> Iterator[None]:
    lock = FileLock(lock_file(vault), timeout=LOCK_S, is_singleton=False)
    try:
        lock.acquire()
    except Timeout as error:
        raise ServerRunning(vault, announced(vault)) from error
    try:
        announcement_file(vault).unlink(missing_ok=True)  # left by a killed server
        yield
    finally:
        lock.release()


@contextmanager
def _listening(choices: Choices) -> Iterator[socket.socket]:
    """Listen at the chosen port; without one at the usual port, or any free one if that is in use."""
    ports = [DEFAULT_PORT, 0] if choices.port is None else [choices.port]
    for port in ports:
        try:
            listener = _listen(choices.host, port)
        except OSError as error:
            if port != ports[-1]:
                continue
            where = choices.host if choices.port is None else f"{choices.host} port {choices.port}"
            remedy = (
                ""
                if choices.port is None
                else " Choose another --port, or leave it out and a free one is taken."
            )
            raise ConfigError(f"Nothing can listen at {where}: {_reason(error)}.{remedy}") from error
        with listener:
            yield listener
        return


def _reason(error: OSError) -> str:
    """Return the system's reason without the address that `socket.create_server` appends; the message names it."""
    return str(error.strerror or error).partition(" (while ")[0]


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family, backlog=128)
    # Inherited by every connection. Without it, Nagle's algorithm and delayed ACKs delay the second packet of an
    # answer by 40 ms.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _announcement(
    vault: Path, vault_id: str, listener: socket.socket, environ: Mapping[str, str]
) -> Announcement:
    host, port = listener.getsockname()[:2]
    return Announcement(
        {
            "pid": str(os.getpid()),
            "holder": holder_id(),
            "host": EVERYWHERE.get(host, host),
            "port": str(port),
            "version": VERSION,
            "vault": os.path.realpath(vault),
            "vault_id": vault_id,
            "variables": variables_in(environ),
            **places_in(environ),
        }
    )


def _answer(
    settings: Settings,
    here: Announcement,
    choices: Choices,
    token: str,
    listener: socket.socket,
    environ: Mapping[str, str],
    tell: Callable[[str], None],
) -> None:
    vault = settings.vault

    def appear() -> None:
        write_whole(announcement_file(vault), here.as_bytes())
        Path(start_note(vault)).unlink(missing_ok=True)
        tell(here.url)

    def vanish() -> None:
        announcement_file(vault).unlink(missing_ok=True)
        app.state.hang_up()

    runtime = ServerRuntime(vault, environ, settings if choices.watch else None, settings)
    app = application(runtime, names_of(here.host, here.port, choices.names), token)
    try:
        Host(app, listener, appear, vanish, choices.idle_exit_s).serve_until_told(choices.log)
    finally:
        vanish()
