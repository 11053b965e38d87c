"""
Minimal HTTP client of hooks for the server of their vault.

HTTP is implemented by hand, because importing a client library takes longer than everything else in a request. The event
is sent only after the server has accepted the request (``Expect: 100-continue``) within `PATIENCE_S`. Otherwise the hook
does the work itself, and no work is done twice.
"""

from __future__ import annotations

from time import monotonic

from clawmem.app.client.announcement import announced, places_in, token_of
from clawmem.app.environment.places import vault_place

# `typing` is not imported: it takes as long as a request to the server (decision 6).
TYPE_CHECKING = False
from clawmem.app.client.announcement import Announcement

if TYPE_CHECKING:
    from _socket import socket
    from collections.abc import Mapping, Sequence


PATIENCE_S = 0.1  # for the connection, and again for the first response of the server
MOST_INPUT = 16_000_000  # bytes; an event is some kilobytes, with a pasted log in its prompt some megabytes
LONGEST_HEAD = 4_000  # bytes
MOST_AT_ONCE = 1 << 20  # bytes
END_OF_HEAD = b"\r\n\r\n"

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

    There is no timeout for the answer, because the caller has a deadline.
    """
    vault = vault_place(environ)
    server = announced(vault)
    if server is None or not serves(server, environ, version):
        return ""
    options = ", ".join(f'"{name}": {_json_text(environ[name])}' for name in CHOICES if environ.get(name))
    try:
        token = token_of(vault, environ)
        return posted(server, f"/hooks/{name}", token, event, f"{OPTIONS_HEADER}: {{{options}}}")
    except (OSError, UnicodeError):
        return ""


def _json_text(text: str) -> str:
    """Return *text* as a JSON string; most are ids, and importing ``json`` for the others takes a millisecond."""
    if text.isascii() and text.replace("-", "").isalnum():
        return f'"{text}"'
    from json import dumps

    return dumps(text)


def posted(
    server: Announcement,
    path: str,
    token: str,
    body: bytes,
    *headers: str,
    first_s: float | None = None,
    answer_s: float | None = None,
) -> str:
    """
    Return the response body of *server*; empty for another server, a refusal or an error status.

    Args:
        first_s: Seconds until the first response, by default `PATIENCE_S`.
        answer_s: Seconds for the complete answer, even if it arrives in small parts; ``None`` is unlimited.

    Raises:
        TimeoutError: the server is connected and did not answer in time.
        OSError, UnicodeError: the connection failed or was lost, or the response is not valid text.
    """
    head = _head(server, path, token, len(body), headers)
    return _exchange(server, head, body, PATIENCE_S if first_s is None else first_s, answer_s)


def serves(server: Announcement, environ: Mapping[str, str], version: str) -> bool:
    """Whether *server* gives the same answers as a process of this version with these variables."""
    from clawmem.app.environment.process_identity import is_gone

    same = server.version == version and server.places == places_in(environ)
    return same and not is_gone(server.holder)


def _head(server: Announcement, path: str, token: str, length: int, headers: Sequence[str]) -> bytes:
    shown = f"[{server.host}]" if ":" in server.host else server.host
    lines = [
        f"POST {path} HTTP/1.1",
        f"Host: {shown}:{server.port}",
        *([f"Authorization: Bearer {token}"] if token else []),
        "Content-Type: application/json",
        f"Content-Length: {length}",
        *headers,
        "Expect: 100-continue",
        "Connection: close",
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("ascii")


def _exchange(server: Announcement, head: bytes, body: bytes, first_s: float, answer_s: float | None) -> str:
    # Importing `socket` takes 2 ms and adds only names.
    from _socket import AF_INET, AF_INET6, SOCK_STREAM, socket

    connection = socket(AF_INET6 if ":" in server.host else AF_INET, SOCK_STREAM)
    try:
        connection.settimeout(first_s)
        connection.connect((server.host, server.port))
        connection.sendall(head)
        first, _, more = _received(connection, first_s, LONGEST_HEAD).partition(END_OF_HEAD)
        if not first.startswith(b"HTTP/1.1 100 "):
            return ""  # another server, a refusal, or too many requests
        connection.settimeout(answer_s)
        connection.sendall(body)
        return _line_in(more + _received(connection, answer_s))
    finally:
        connection.close()


def _received(connection: socket, seconds: float | None, most_head: int = 0) -> bytes:
    """Return all bytes received within *seconds*; with *most_head* stop after a head, or after that many bytes."""
    until = None if seconds is None else monotonic() + seconds
    got = b""
    while not (most_head and (END_OF_HEAD in got or len(got) > most_head)):
        if until is not None:
            _wait_until(until, connection)
        part = connection.recv(MOST_AT_ONCE)
        if not part:
            break
        got += part
    return got


def _wait_until(until: float, connection: socket) -> None:
    """Limit the timeout of *connection* to the time left, so that a peer that sends single bytes cannot block."""
    left = until - monotonic()
    if left <= 0:
        raise TimeoutError
    connection.settimeout(left)


def _line_in(answer: bytes) -> str:
    """Return the body of a complete response with status 200; otherwise an empty string."""
    head, _, content = answer.partition(END_OF_HEAD)
    whole = f"\r\ncontent-length: {len(content)}\r\n".encode() in head.lower() + b"\r\n"
    return content.decode("utf-8") if head.startswith(b"HTTP/1.1 200 ") and whole else ""
