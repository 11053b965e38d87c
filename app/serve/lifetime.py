"""From the command to the last answer: one server a vault, found as long as it is there."""

from __future__ import annotations

import gc
import json
import os
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from clawmem.adapters.sidecar.write_lock import locked
from clawmem.app.private_files import OTHERS
from clawmem.app.serve.announcement import (
    Announcement,
    announced,
    announcement_file,
    places_in,
    variables_in,
)
from clawmem.ports.errors import ClawmemError, ConfigError, IndexBusy

if TYPE_CHECKING:
    from clawmem.app.settings import Settings

DEFAULT_PORT = 7438
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # and where such a server is found from here
LOCK_S = 0.2  # who only asks whether there is a server holds the lock for an instant


class ServerRunning(ClawmemError):
    """Another server has the vault."""

    code = "SERVER_RUNNING"

    def __init__(self, vault: Path, there: Announcement | None) -> None:
        where = f" at {url_of(there)} (process {there.pid})" if there else ""
        super().__init__(f"A server of {vault} runs already{where}. Stop it with: clawmem serve --stop")


class Choices(NamedTuple):
    """
    How to serve.

    ``port`` ``None`` takes the usual one, or any when that is taken. ``names`` are further names that the server
    goes by, without a port. ``without_token`` lets in whoever is on this machine. With ``watch`` the vault is kept up
    with its folders.
    """

    host: str = "127.0.0.1"
    port: int | None = None
    names: tuple[str, ...] = ()
    without_token: bool = False
    watch: bool = True


def serve(
    settings: Settings, choices: Choices, environ: Mapping[str, str], tell: Callable[[str], None]
) -> None:
    """
    Serve the vault of *settings* until a signal comes.

    Args:
        environ: The variables of this process.
        tell: Told the address when questions are answered.

    Raises:
        ServerRunning: another process serves this vault.
        ConfigError: it cannot listen there, or not without a token.
        VaultError: there is no vault, or it cannot be opened.
    """
    from clawmem.adapters.system.heap import keep_heap_small
    from clawmem.app.opened import open_services
    from clawmem.app.serve.token import token_for

    if choices.without_token and choices.host not in LOOPBACK:
        raise ConfigError(f"At {choices.host} others can ask as well: leave out --no-token.")
    os.umask(OTHERS)  # for whatever is made from here on; threads cannot each have their own
    keep_heap_small()
    # Open for writing until the end: who closes last puts the vault's log away.
    with open_services(settings, create=False) as services, _alone(settings.vault):
        token = "" if choices.without_token else token_for(settings.vault, environ)
        with _listening(choices) as listener:
            vault_id = services.vault.outbox.head().vault
            here = _announcement(settings.vault, vault_id, choices, listener, environ)
            _answer(settings, here, choices, token, listener, environ, tell)


def is_running(vault: Path) -> bool:
    """Whether a process serves *vault*, whatever a file may still say; it may just begin or end."""
    if not lock_file(vault).exists():
        return False
    try:
        with locked(lock_file(vault), 0.0):
            return False
    except IndexBusy:
        return True


def lock_file(vault: Path) -> Path:
    """Locked by a server as long as it lives; that the file is there says nothing."""
    return vault.with_name(f"{vault.name}.server-lock")


def url_of(server: Announcement) -> str:
    """Where a server answers."""
    host = f"[{server.host}]" if ":" in server.host else server.host
    return f"http://{host}:{server.port}"


@contextmanager
def _alone(vault: Path) -> Iterator[None]:
    try:
        with locked(lock_file(vault), LOCK_S):
            announcement_file(vault).unlink(missing_ok=True)  # of one that was killed
            yield
    except IndexBusy as error:
        raise ServerRunning(vault, announced(vault)) from error


@contextmanager
def _listening(choices: Choices) -> Iterator[socket.socket]:
    try:
        listener = _listen(choices.host, DEFAULT_PORT if choices.port is None else choices.port)
    except OSError as error:
        if choices.port is not None:
            raise ConfigError(
                f"Nothing can listen at {choices.host} port {choices.port}: {_reason(error)}. "
                "Choose another --port, or leave it out and a free one is taken."
            ) from error
        listener = _listen_anywhere(choices.host)
    with listener:
        yield listener


def _listen_anywhere(host: str) -> socket.socket:
    try:
        return _listen(host, 0)
    except OSError as error:
        raise ConfigError(f"Nothing can listen at {host}: {_reason(error)}.") from error


def _reason(error: OSError) -> str:
    """Why, in the system's words; the library adds the address, which stands before them already."""
    return str(error.strerror or error).partition(" (while ")[0]


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family, backlog=128)
    # Handed on to every connection. Else the second half of an answer waits 40 ms for word of the first.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _announcement(
    vault: Path, vault_id: str, choices: Choices, listener: socket.socket, environ: Mapping[str, str]
) -> Announcement:
    from clawmem.adapters.system.holder import holder_id
    from clawmem.app.cli.main import VERSION

    host, port = listener.getsockname()[:2]
    found_at, real = EVERYWHERE.get(host, host), os.path.realpath(vault)
    where = os.getpid(), holder_id(), found_at, port
    return Announcement(*where, VERSION, real, vault_id, places_in(environ), variables_in(environ))


def _answer(
    settings: Settings,
    here: Announcement,
    choices: Choices,
    token: str,
    listener: socket.socket,
    environ: Mapping[str, str],
    tell: Callable[[str], None],
) -> None:
    from clawmem.app.hooks.state import write_whole
    from clawmem.app.rest.application import application
    from clawmem.app.rest.security import names_of
    from clawmem.app.serve.host import Host
    from clawmem.app.serve.inside import Inside

    vault = settings.vault

    def appear() -> None:
        write_whole(announcement_file(vault), json.dumps(here._asdict()).encode())
        tell(url_of(here))

    def vanish() -> None:
        announcement_file(vault).unlink(missing_ok=True)
        app.state.hang_up()

    inside = Inside(vault, environ, settings if choices.watch else None, settings)
    app = application(inside, names_of(here.host, here.port, choices.names), token)
    gc.freeze()  # modules and routes stay to the end; to look for garbage among them slows every answer by a twentieth
    try:
        Host(app, listener, appear, vanish).serve_until_told()
    finally:
        vanish()
