"""
HTTP client of a running server, for hooks, commands and the MCP proxy.

It uses ``http.client``: importing httpx2 costs a hook more CPU time than the whole request.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from threading import Timer

from clawmem.app.client.announcement import Announcement, announced, places_in, token_of, variables_in
from clawmem.app.environment.places import default_vault
from clawmem.app.environment.process_identity import is_gone

PATIENCE_S = 0.1  # for the connection, and for the first response of the server
MOST_INPUT = 16_000_000  # bytes; an event is some kilobytes, with a pasted log in its prompt some megabytes

OPTIONAL_HOOKS_VARIABLE = "CLAWMEM_HOOKS"
"""Names the optional hooks that run with their event, separated by commas."""

# Variables that a client may set for its own call; all others are the server's.
CHOICES = (
    "CLAWMEM_PROFILE",
    "CLAWMEM_TOKEN_BUDGET",
    OPTIONAL_HOOKS_VARIABLE,
    "CLAWMEM_THRESHOLD_MODE",
    "CLAWMEM_SESSION_FOCUS",
    "CLAWMEM_HEARTBEAT_PATTERNS",
    "CLAWMEM_DISABLE_HEARTBEAT_SUPPRESSION",
    "CLAWMEM_HOOK_DEDUP_WINDOW_SEC",
    "CLAWMEM_NUDGE_INTERVAL",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_SESSION_ID",
    "CLAWMEM_SESSION_ID",
)
OPTIONS_HEADER = "clawmem-options"
"""Its value is a JSON object of `CHOICES`."""


def ask(name: str, event: bytes, environ: Mapping[str, str], version: str) -> str:
    """
    Return the server's answer to *event* for the hooks that *name* names; empty if they must run here.

    There is no time limit for the answer, because the caller has a deadline.
    """
    vault = default_vault(environ)
    server = server_of(vault, environ, version)
    if server is None:
        return ""
    options = json.dumps({choice: environ[choice] for choice in CHOICES if environ.get(choice)})
    try:
        return posted(
            server, f"/hooks/{name}", token_of(vault, environ), event, headers={OPTIONS_HEADER: options}
        )
    except (OSError, UnicodeError):
        return ""


def server_of(
    vault: Path | str, environ: Mapping[str, str], version: str, *, same_variables: bool = False
) -> Announcement | None:
    """
    Return the running server of *vault* that gives the same answers as a process of this version with *environ*.

    Args:
        same_variables: Whether all variables of clawmem must be the same: the caller does not send `CHOICES`.
    """
    server = announced(vault)
    if server is None or server.version != version or server.places != places_in(environ):
        return None
    if is_gone(server.holder) or (same_variables and server.variables != variables_in(environ)):
        return None
    return server


def posted(
    server: Announcement,
    path: str,
    token: str,
    body: bytes,
    *,
    headers: Mapping[str, str] | None = None,
    first_s: float = PATIENCE_S,
    answer_s: float | None = None,
) -> str:
    """
    Return the response body of *server*; empty for a refusal or an error status.

    The body is sent after the server has answered a request without a token, so that nobody waits for a server that
    hangs, and no work is done twice.

    Args:
        first_s: Seconds until that first answer.
        answer_s: Seconds for the complete answer, even if it arrives in small parts; ``None`` is unlimited.

    Raises:
        TimeoutError: The server did not answer in time.
        OSError, UnicodeError: The connection failed or was lost, or the response is not valid text.
    """
    with connected(server, first_s) as connection:
        _greet(connection, server, first_s)
        with _at_most(answer_s, connection):
            fields = {"Host": server.authority, "Content-Type": "application/json", **(headers or {})}
            connection.request("POST", path, body, fields | bearer(token))
            response = connection.getresponse()
            content = response.read()
    return content.decode() if response.status == 200 else ""


def answers(server: Announcement, seconds: float = 1.0) -> bool:
    """Whether *server* sends any response within *seconds*, even a refusal; no token is sent to it."""
    try:
        with connected(server, seconds) as connection:
            _greet(connection, server, seconds)
    except (OSError, UnicodeError):
        return False
    return True


@contextmanager
def connected(server: Announcement, seconds: float) -> Iterator[HTTPConnection]:
    """Connect to *server* within *seconds*, and close the connection after the block."""
    try:
        with closing(HTTPConnection(server.host, server.port, timeout=seconds)) as connection:
            connection.connect()
            connection.timeout = None
            connection.sock.settimeout(None)
            yield connection
    except HTTPException as error:
        raise ConnectionError(str(error)) from error


def _greet(connection: HTTPConnection, server: Announcement, seconds: float) -> None:
    """Wait at most *seconds* until *server* refuses a request without a token, which takes it no time."""
    with _at_most(seconds, connection):
        connection.request("GET", "/health", headers={"Host": server.authority})
        connection.getresponse().read()


def bearer(token: str) -> dict[str, str]:
    """Return the header that shows *token*; none for an empty one."""
    return {"Authorization": f"Bearer {token}"} if token else {}


@contextmanager
def _at_most(seconds: float | None, connection: HTTPConnection) -> Iterator[None]:
    """Raise `TimeoutError` if the exchange of the block takes longer; a time limit of the socket is one for each part."""
    if seconds is None:
        yield
        return
    late = []

    def end() -> None:
        late.append(seconds)
        with suppress(OSError, AttributeError):  # the connection may be closed
            connection.sock.shutdown(socket.SHUT_RDWR)

    timer = Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    except (OSError, HTTPException) as error:
        if late:
            raise TimeoutError(f"no complete answer within {seconds} s") from error
        raise
    finally:
        timer.cancel()
