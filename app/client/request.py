"""
Discovery of a running server, and requests to it, for hooks, commands and the MCP proxy.

A file next to the vault has the address of its server, and a separate file the token. The client uses ``http.client``: importing httpx2 costs a hook more CPU time than the whole request.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from clawmem.app.client.hook_registry import SESSION_VARIABLES
from clawmem.app.environment.places import HOOK_SETTINGS, XDG, default_vault, is_gone
from clawmem.app.version import VERSION
from clawmem.ports.errors import ClawmemError

if TYPE_CHECKING:
    from http.client import HTTPConnection


# Variables that determine where a process looks for settings, models and topics.
PLACES = ("HOME", "USERPROFILE", *XDG, "CLAWMEM_CONFIG_DIR", "CLAWMEM_FOCUS_ROOT")
TOKEN_VARIABLE = "CLAWMEM_API_TOKEN"
OPTIONAL_HOOKS_VARIABLE = "CLAWMEM_HOOKS"
TOOLS_VARIABLE = "CLAWMEM_MCP_TOOLS"
OFF_VARIABLE = "CLAWMEM_NO_SERVER"

# Variables that a client may set for its own call; all others are the server's.
CHOICES = (*HOOK_SETTINGS, *SESSION_VARIABLES)
OPTIONS_HEADER = "clawmem-options"  # its value is a JSON object of `CHOICES`

# Variables that need not match between client and server: no command depends on those that no request has.
APART = frozenset({*CHOICES, TOKEN_VARIABLE, TOOLS_VARIABLE, OFF_VARIABLE})

FIRST_S = 1.0  # time limit for the first byte of a result: the command alone takes about half as long
ANSWER_S = 30.0  # time limit for a result: slow models time out earlier
PATIENCE_S = 0.1  # for the connection, and for the first response of the server
MOST_INPUT = 16_000_000  # bytes; an event is some kilobytes, with a pasted log in its prompt some megabytes


class ToolSet(StrEnum):
    """Tool sets; each is a server of its own, because names and conventions of the others are not those of clawmem."""

    CLAWMEM = "clawmem"  # what an agent needs daily
    ALL = "all"  # every tool
    FILES = "files"  # a folder of text files

    @property
    def path(self) -> str:
        """The path at a running server."""
        return "/mcp" if self is ToolSet.CLAWMEM else f"/mcp/{self}"


class Announcement(NamedTuple):
    """Announcement of a server that runs, or has run."""

    pid: int
    holder: str  # process identity, as used in leases
    host: str  # address at which the server can be reached
    port: int
    version: str  # of clawmem
    vault: str  # real path of the vault file
    environment: str  # `environment_digest` of its environment
    listens: str  # address that was chosen, which may be a wildcard

    @property
    def authority(self) -> str:
        """Host and port as in a URL and in the Host header."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def url(self) -> str:
        """Base URL."""
        return f"http://{self.authority}"


def server_file(
    vault: Path | str, kind: Literal["server", "server-lock", "server-log", "server-start", "token"]
) -> Path:
    """
    Return the path of a file of *vault*'s server.

    ``server`` is its announcement. ``server-lock`` is locked while it runs; its existence alone means nothing.
    ``server-log`` is the log of servers in the background. ``server-start`` marks a start; the server deletes it as soon
    as it answers. Only its owner may read ``token``.
    """
    return Path(f"{vault}.{kind}")


def announced(vault: Path | str) -> Announcement | None:
    """Return the announcement next to *vault*, which may be stale; ``None`` if there is no valid one for this vault."""
    try:
        server = Announcement(**json.loads(server_file(vault, "server").read_bytes()))
        # Untrusted: the host becomes part of a request, and a copied folder announces the original vault.
        numbers = 0 < server.port < 1 << 16 and 0 < server.pid < 1 << 31
        is_valid = numbers and server.host.isprintable() and isinstance(server.holder, str)
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return None
    return server if is_valid and server.vault == os.path.realpath(vault) else None


def token_of(vault: Path | str, environ: Mapping[str, str]) -> str:
    """Return the token that a client of *vault* sends; empty if there is none or it cannot be read."""
    with suppress(OSError, UnicodeDecodeError):
        return environ.get(TOKEN_VARIABLE) or server_file(vault, "token").read_text("ascii").strip()
    return ""


def environment_digest(environ: Mapping[str, str]) -> str:
    """
    Return a digest of `PLACES` and of all clawmem variables except those in `APART`.

    Processes with different digests may give different answers. The digest does not reveal the values, which may
    include API keys.
    """
    named = {name for name in environ if name in PLACES or name.startswith("CLAWMEM_")}
    chosen = [(name, environ[name]) for name in sorted(named - APART) if environ[name]]
    return hashlib.sha256(json.dumps(chosen).encode()).hexdigest()


def ask(name: str, event: bytes, environ: Mapping[str, str]) -> str:
    """Return the server's answer to *event*, without a time limit; empty if the hooks must run here."""
    vault = default_vault(environ)
    if (server := server_of(vault, environ)) is None:
        return ""
    options = {OPTIONS_HEADER: json.dumps({name: environ[name] for name in CHOICES if environ.get(name)})}
    try:
        return posted(server, f"/hooks/{name}", token_of(vault, environ), event, headers=options)
    except (OSError, UnicodeError):
        return ""


class Refused(ClawmemError):
    """An error that a server reports, see `clawmem.app.operations.operation.error_record`."""

    def __init__(self, record: Mapping[str, Any], exit_code: int) -> None:
        self.exit_code = exit_code
        self.code = record["code"]
        self.suggestions = record.get("suggestions", ())
        self.candidates = record.get("candidates", ())
        super().__init__(record["error"])


def result_from_server(name: str, request: Mapping[str, Any], vault: Path | None) -> dict[str, Any] | None:
    """
    Return the result of the operation *name* from a running server; ``None`` if the caller must run it.

    *vault* is a name or a file, by default the usual one. Raises `Refused` if the server ran it, and it failed.
    """
    is_name = vault is not None and not (os.sep in str(vault) or "." in str(vault))
    file = default_vault(os.environ) if vault is None or is_name else vault.absolute()
    if (server := server_of(file, os.environ)) is None:
        return None
    try:
        call = {"request": dict(request), "vault": str(vault) if is_name else None}
        body, token = json.dumps(call, ensure_ascii=False).encode(), token_of(file, os.environ)
        text = posted(server, f"/operations/{name}", token, body, first_s=FIRST_S, answer_s=ANSWER_S)
        answer: dict[str, Any] = json.loads(text)
        if answer["refused"]:
            raise Refused(answer["refused"], answer["exit_code"])
        result: dict[str, Any] | None = answer["result"]
        return result
    except TimeoutError:
        sys.stderr.write(
            f"clawmem: the server (process {server.pid}) does not answer in time; asked without it. "
            "Look at it with: clawmem serve --status\n"
        )
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        pass  # no connection, a name that cannot be encoded, or the answer of another program
    return None


def server_of(vault: Path | str, environ: Mapping[str, str]) -> Announcement | None:
    """Return the running server of *vault* that gives the same answers as a process of this version with *environ*."""
    server = announced(vault)
    is_same = server and (server.version, server.environment) == (VERSION, environment_digest(environ))
    return server if server and is_same and not is_gone(server.holder) else None


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

    It has *first_s* seconds to answer at all, see `connected`, and *answer_s* for each part of the answer. Raises
    `TimeoutError`, and `OSError` or `UnicodeError` if the connection failed or the response is no text.
    """
    with connected(server, first_s) as connection:
        connection.sock.settimeout(answer_s)
        fields = {"Host": server.authority, "Content-Type": "application/json", **(headers or {})}
        connection.request("POST", path, body, fields | {"Authorization": f"Bearer {token}"})
        response = connection.getresponse()
        content = response.read()
    return content.decode() if response.status == 200 else ""


def fault_of_server(server: Announcement) -> str:
    """Return why clients do not use *server*, with the remedy; empty if they do."""
    restart = "restart it: clawmem serve --stop, then clawmem serve --background"
    if server.version != VERSION:
        return f"The server runs {server.version}, this is {VERSION}; {restart}"
    try:
        with connected(server, 1.0):  # no token is sent
            return ""
    except (OSError, UnicodeError):
        return f"The server does not answer; {restart}"


@contextmanager
def connected(server: Announcement, seconds: float) -> Iterator[HTTPConnection]:
    """
    Yield a connection to *server* without a time limit, and close it after the block.

    Before that the server has refused, within *seconds*, a request without a token, which takes it no time. So nobody
    waits for a server that hangs, and no work is done twice.
    """
    from http.client import HTTPConnection, HTTPException  # not where no server is announced

    try:
        with closing(HTTPConnection(server.host, server.port, timeout=seconds)) as connection:
            connection.request("GET", "/health", headers={"Host": server.authority})
            connection.getresponse().read()
            if connection.sock is None:
                raise ConnectionError("the server closes its connections")
            connection.timeout = None
            connection.sock.settimeout(None)
            yield connection
    except HTTPException as error:
        raise ConnectionError(str(error)) from error
