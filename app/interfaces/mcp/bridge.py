"""
Bridge between a client on standard input and a running server.

It uses the standard library, because importing the official library takes a second. Every message is a request of its
own: the server keeps no state between requests, and the next request may go to another server.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.client import HTTPConnection, HTTPException, HTTPResponse
from pathlib import Path
from time import monotonic
from typing import Any

from clawmem.app.client.announcement import Announcement, announced, token_of, variables_in
from clawmem.app.client.request import serves
from clawmem.app.client.tool_sets import IN_ORDER_S, TOOLS_VARIABLE, WRITING_TOOLS, ToolSet, path_of
from clawmem.app.environment.places import FILES_VARIABLE, default_vault
from clawmem.app.interfaces.mcp.lines import Lines, refusal_of
from clawmem.app.version import VERSION

CONNECT_S = 0.3
DRAIN_S = 10.0
VERSION_FIELD = "io.modelcontextprotocol/protocolVersion"
LONG_LIVED = "subscriptions/listen"  # never ends on its own, so its end is not awaited
_IN_ORDER = frozenset({"tools/call", "resources/read"})
AWAY = -32_001
AWAY_MESSAGE = (
    "The server of this vault is not there any more. Start clawmem serve again, or connect anew: without a server "
    "clawmem mcp does the work itself."
)


def server_of(vault: Path, environ: Mapping[str, str], version: str) -> Announcement | None:
    """
    Return the running server that gives the same answers for *vault* as this process; ``None`` if there is none.

    A server that was started with other variables, other named vaults for example, gives other answers.
    """
    import socket

    server = announced(vault)
    if server is None or not serves(server, environ, version):
        return None
    if server.variables != variables_in(environ):
        return None
    try:
        with socket.create_connection((server.host, server.port), CONNECT_S):
            return server
    except OSError:
        return None


class Bridge:
    """
    Bridge between a client on standard input and the server of *vault*.

    Args:
        find: Returns the announced server, if any.
    """

    def __init__(
        self, find: Callable[[], Announcement | None], vault: Path, environ: Mapping[str, str], tools: ToolSet
    ) -> None:
        self._find = find
        self._vault = vault
        self._environ = environ
        self._path = path_of(tools)
        self._version = ""  # negotiated version of the protocol
        self._under_way: dict[threading.Thread, bool] = {}  # whether its end is awaited
        self._changes: list[threading.Thread] = []  # of tools that write
        self._connections: dict[str, HTTPConnection | None] = {}  # by the id of the request

    def run(self, lines: Lines) -> None:
        """Forward messages until the end of input; running requests are answered first."""
        for line in lines.read():
            if (refusal := refusal_of(line)) is not None:
                if refusal:
                    lines.write(refusal)
                continue
            message = _object(line)
            if message.get("method") == "notifications/cancelled":
                self._cancel(message)
            elif message.get("method") == "initialize":
                self._exchange(line, message, lines.write)  # later messages need the negotiated version
            else:
                self._begin(line, message, lines.write)
        end = monotonic() + DRAIN_S
        for thread in [one for one, awaited in self._under_way.items() if awaited]:
            thread.join(max(0.0, end - monotonic()))

    def _begin(self, line: bytes, message: Mapping[str, Any], write: Callable[[bytes], None]) -> None:
        earlier = self._changes = [one for one in self._changes if one.is_alive()]
        thread = threading.Thread(target=self._in_turn, args=(earlier, line, message, write), daemon=True)
        if message.get("method") == "tools/call" and _params(message).get("name") in WRITING_TOOLS:
            self._changes = [*earlier, thread]
        self._under_way = {one: awaited for one, awaited in self._under_way.items() if one.is_alive()}
        self._under_way[thread] = message.get("method") != LONG_LIVED
        thread.start()

    def _in_turn(
        self,
        earlier: Sequence[threading.Thread],
        line: bytes,
        message: Mapping[str, Any],
        write: Callable[[bytes], None],
    ) -> None:
        """Forward *message* after the *earlier* changes, for which it waits a limited time."""
        number = json.dumps(message.get("id"))
        self._connections[number] = None
        end = monotonic() + IN_ORDER_S
        for change in earlier if message.get("method") in _IN_ORDER else ():
            change.join(max(0.0, end - monotonic()))
        if "id" not in message or number in self._connections:  # otherwise it was cancelled
            self._exchange(line, message, write)

    def _cancel(self, message: Mapping[str, Any]) -> None:
        """Close the connection of a cancelled request, which the server notices."""
        asked = _params(message).get("requestId")
        if connection := self._connections.pop(json.dumps(asked), None):
            connection.close()

    def _exchange(self, line: bytes, message: Mapping[str, Any], write: Callable[[bytes], None]) -> None:
        number = json.dumps(message.get("id"))
        try:
            for answer in self._answers(line, message, number):
                if message.get("method") == "initialize":
                    self._agree(answer)
                write(answer)
        except (
            OSError,
            HTTPException,
            AttributeError,
            ValueError,
        ) as error:  # the last two: the connection was closed by `_cancel`
            if "id" in message and number in self._connections:
                write(_away(message["id"], error))
        finally:
            self._connections.pop(number, None)

    def _answers(self, line: bytes, message: Mapping[str, Any], number: str) -> Iterator[bytes]:
        self._connections[number] = None
        server = self._find()
        if server is None:
            raise ConnectionError
        connection = HTTPConnection(server.host, server.port)
        connection.timeout = CONNECT_S
        connection.connect()
        connection.sock.settimeout(None)  # tools have no time limit
        self._connections[number] = connection
        connection.request("POST", self._path, line, self._headers(message))
        response = connection.getresponse()
        yield from _messages(response)
        connection.close()

    def _headers(self, message: Mapping[str, Any]) -> dict[str, str]:
        params = _params(message)
        meta = params.get("_meta")
        modern = meta.get(VERSION_FIELD, "") if isinstance(meta, dict) else ""
        token = token_of(self._vault, self._environ)
        named = params.get("name") or params.get("uri")
        chosen = {
            "Authorization": f"Bearer {token}" if token else "",
            "mcp-protocol-version": str(modern or self._version),
            "mcp-method": str(message.get("method", "")) if modern else "",
            "mcp-name": _printable(named) if modern and isinstance(named, str) else "",
        }
        usual = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        return usual | {name: value for name, value in chosen.items() if value}

    def _agree(self, answer: bytes) -> None:
        result = _object(answer).get("result")
        if isinstance(result, dict):
            self._version = str(result.get("protocolVersion", ""))


def _messages(response: HTTPResponse) -> Iterator[bytes]:
    """Yield the messages of a response as they arrive."""
    if not response.getheader("content-type", "").startswith("text/event-stream"):
        content = response.read()
        if _object(content).get("jsonrpc"):
            yield content.replace(b"\n", b" ")
        elif response.status >= 400:
            raise ConnectionError(f"it answers {response.status}")
        return
    for line in response:
        if line.startswith(b"data:") and (content := line[len(b"data:") :].strip()):
            yield content


def _away(number: Any, error: BaseException) -> bytes:
    message = f"{AWAY_MESSAGE} ({error})" if str(error) else AWAY_MESSAGE
    return json.dumps({"jsonrpc": "2.0", "id": number, "error": {"code": AWAY, "message": message}}).encode()


def _object(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _params(message: Mapping[str, Any]) -> dict[str, Any]:
    params = message.get("params")
    return params if isinstance(params, dict) else {}


def _printable(name: str) -> str:
    """Return *name* as the value of a header; the protocol encodes other characters in base64."""
    if name.isascii() and name.isprintable() and name == name.strip():
        return name
    from base64 import b64encode

    return f"=?base64?{b64encode(name.encode()).decode()}?="


def forwarded_at_once(arguments: Sequence[str]) -> bool:
    """
    Forward the session to a running server; return whether the command line was valid and a server was found.

    Other command lines are left to the command, which reports their errors.
    """
    given = dict(zip(arguments[::2], arguments[1::2], strict=False))
    is_empty = not given.get("--vault", "usual").strip()
    if len(arguments) % 2 or given.keys() - {"--vault", "--tools"} or is_empty:
        return False
    tools = given.get("--tools") or os.environ.get(TOOLS_VARIABLE) or ToolSet.CLAWMEM
    if tools not in tuple(ToolSet):
        return False
    vault = given.get("--vault")
    return forwarded(Path(vault).expanduser() if vault else None, ToolSet(tools))


def forwarded(named: Path | None, tools: ToolSet) -> bool:
    """Forward the session to a server of the vault *named*, by default the usual one; return whether there is one."""
    if os.environ.get(FILES_VARIABLE):  # a running server uses its own variable
        return False
    from clawmem.app.client.autostart import answers

    vault = named or default_vault(os.environ)
    environ = {**os.environ, "INDEX_PATH": str(vault)}
    server = server_of(vault, environ, VERSION)
    if server is None or not answers(server):  # a server that hangs would block the assistant
        return False
    from clawmem.app.client.autostart import found_or_started
    from clawmem.app.interfaces.mcp.lines import Lines

    def find() -> Announcement | None:
        return found_or_started(lambda: server_of(vault, environ, VERSION), environ)

    Bridge(find, vault, environ, tools).run(Lines())
    return True
