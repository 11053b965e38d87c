"""
A hook asks the server of its vault, if there is one, and so pays for nothing but the question.

HTTP by hand: the library's clients would cost more than everything else here. The event is sent only after the server
has said that it is there and willing (``Expect: 100-continue``), and quickly; else the hook does the work itself, and
nothing was done twice.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from time import monotonic

from clawmem.app.places import vault_place
from clawmem.app.serve.announcement import Announcement, announced, places_in, token_of

TYPE_CHECKING = False  # as `typing` has it, which costs a prompt a millisecond and a half
if TYPE_CHECKING:
    from _socket import socket

PATIENCE_S = 0.1  # with the connection, and again with the server's first word
LONGEST_HEAD = 4_000  # bytes
MOST_AT_ONCE = 1 << 20  # bytes
END_OF_HEAD = b"\r\n\r\n"

# What a client may choose for its own call; everything else is the server's.
CHOICES = (
    "CLAWMEM_PROFILE",
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


def ask(name: str, event: str, environ: Mapping[str, str], version: str) -> str:
    """
    The line that the server answers to *event* for the hook *name*; empty when the hook has to work alone.

    It waits for an answer for as long as the server takes; whoever calls has a deadline.
    """
    vault = vault_place(environ)
    server = announced(vault)
    if server is None or not serves(server, environ, version):
        return ""
    options = json.dumps({name: environ[name] for name in CHOICES if environ.get(name)})
    body = event.encode("utf-8", "replace")
    try:
        token = token_of(vault, environ)
        return posted(server, f"/hooks/{name}", token, body, f"{OPTIONS_HEADER}: {options}")
    except (OSError, UnicodeError):
        return ""


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
    What *server* answers; empty where it is not this server, may not, will not now or says no.

    Args:
        first_s: Seconds for its first word, `PATIENCE_S` without.
        answer_s: Seconds for all that follows, however it trickles in; without it as long as the server takes.

    Raises:
        TimeoutError: it is there, and is not done in time.
        OSError, UnicodeError: nobody is there, or not any more; nothing that is an answer.
    """
    head = _head(server, path, token, len(body), headers)
    return _exchange(server, head, body, PATIENCE_S if first_s is None else first_s, answer_s)


def serves(server: Announcement, environ: Mapping[str, str], version: str) -> bool:
    """Whether what *server* answers is what a process of this version and these variables would."""
    from clawmem.adapters.system.holder import is_gone

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
    from _socket import AF_INET, AF_INET6, SOCK_STREAM, socket  # `socket` adds names alone, for a millisecond

    family = AF_INET6 if ":" in server.host else AF_INET
    with closing(socket(family, SOCK_STREAM)) as connection:
        connection.settimeout(first_s)
        connection.connect((server.host, server.port))
        connection.sendall(head)
        first, _, more = _received(connection, first_s, LONGEST_HEAD).partition(END_OF_HEAD)
        if not first.startswith(b"HTTP/1.1 100 "):
            return ""  # whatever it says instead: it is not this server, or it may not, or will not now
        connection.settimeout(answer_s)
        connection.sendall(body)
        return _line_in(more + _received(connection, answer_s))


def _received(connection: socket, seconds: float | None, most_head: int = 0) -> bytes:
    """All that comes, within *seconds*; with *most_head* only up to the end of a head, or that many bytes."""
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
    """Have *connection* wait no longer; a peer that sends a byte now and then would be waited for for ever."""
    left = until - monotonic()
    if left <= 0:
        raise TimeoutError
    connection.settimeout(left)


def _line_in(answer: bytes) -> str:
    """The content of a whole answer that says yes."""
    head, _, content = answer.partition(END_OF_HEAD)
    whole = f"\r\ncontent-length: {len(content)}\r\n".encode() in head.lower() + b"\r\n"
    return content.decode("utf-8") if head.startswith(b"HTTP/1.1 200 ") and whole else ""
