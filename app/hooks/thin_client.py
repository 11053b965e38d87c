"""
A hook asks the server of its vault, if there is one, and so pays for nothing but the question.

HTTP by hand: the library's clients would cost more than everything else here. The event is sent only after the server
has said that it is there and willing (``Expect: 100-continue``), and quickly; else the hook does the work itself, and
nothing was done twice.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from clawmem.app.places import default_vault
from clawmem.app.serve.announcement import Announcement, announced, places_in, token_of

PATIENCE_S = 0.1  # with the connection, and again with the server's first word
LONGEST_LINE = 1_000  # bytes

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
    vault = default_vault(environ)
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


def posted(server: Announcement, path: str, token: str, body: bytes, *headers: str) -> str:
    """
    What *server* answers; empty where it is not this server, may not, will not now or says no.

    Raises:
        OSError, UnicodeError: nobody is there, or not any more; nothing that is an answer.
    """
    return _exchange(server, _head(server, path, token, len(body), headers), body)


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


def _exchange(server: Announcement, head: bytes, body: bytes) -> str:
    import socket

    family = socket.AF_INET6 if ":" in server.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as connection:
        connection.settimeout(PATIENCE_S)
        connection.connect((server.host, server.port))
        connection.sendall(head)
        with connection.makefile("rb") as answer:
            if not answer.readline(LONGEST_LINE).startswith(b"HTTP/1.1 100 "):
                return ""  # whatever it says instead: it is not this server, or it may not, or will not now
            while answer.readline(LONGEST_LINE).strip():
                pass
            connection.settimeout(None)
            connection.sendall(body)
            return _line_in(answer.read())


def _line_in(answer: bytes) -> str:
    """The content of a whole answer that says yes."""
    head, _, content = answer.partition(b"\r\n\r\n")
    whole = f"\r\ncontent-length: {len(content)}\r\n".encode() in head.lower() + b"\r\n"
    return content.decode("utf-8") if head.startswith(b"HTTP/1.1 200 ") and whole else ""
