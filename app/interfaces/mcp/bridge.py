"""
Messages of a client, handed to the server that has the vault open, and its answers handed back.

What the official library does takes a second to import; here it is the standard library alone. Every message is a
request of its own: the server keeps nothing of a client between two of them, and may be another one next time.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from http.client import HTTPConnection, HTTPException, HTTPResponse
from pathlib import Path
from time import monotonic
from typing import Any

from clawmem.app.client.announcement import Announcement, announced, token_of, variables_in
from clawmem.app.client.request import serves
from clawmem.app.interfaces.mcp.lines import Lines
from clawmem.app.interfaces.mcp.refusals import refusal_of
from clawmem.app.interfaces.mcp.sets import ToolSet, path_of

CONNECT_S = 0.3
DRAIN_S = 10.0
VERSION_FIELD = "io.modelcontextprotocol/protocolVersion"
LONG_LIVED = "subscriptions/listen"  # answered as long as somebody listens: nobody waits for its end
AWAY = -32_001
AWAY_MESSAGE = (
    "The server of this vault is not there any more. Start clawmem serve again, or connect anew: without a server "
    "clawmem mcp does the work itself."
)


def server_of(vault: Path, environ: Mapping[str, str], version: str) -> Announcement | None:
    """
    Return the running server that answers for *vault* as this process would, or ``None``.

    A server that was started with other variables, other named vaults for example, answers something else.
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
    Between a client on standard input and the server of *vault*.

    Args:
        find: The server as it is announced now.
    """

    def __init__(
        self, find: Callable[[], Announcement | None], vault: Path, environ: Mapping[str, str], tools: ToolSet
    ) -> None:
        self._find = find
        self._vault = vault
        self._environ = environ
        self._path = path_of(tools)
        self._version = ""  # of the protocol, once it is agreed upon
        self._under_way: dict[threading.Thread, bool] = {}  # and whether its end is waited for
        self._connections: dict[str, HTTPConnection | None] = {}  # by the id of the question

    def run(self, lines: Lines) -> None:
        """Hand on what comes until nothing does; then what is under way is answered."""
        for line in lines.read():
            if (refusal := refusal_of(line)) is not None:
                if refusal:
                    lines.write(refusal)
                continue
            message = _object(line)
            if message.get("method") == "notifications/cancelled":
                self._cancel(message)
            elif message.get("method") == "initialize":
                self._exchange(line, message, lines.write)  # what follows goes by the version that it brings
            else:
                self._begin(line, message, lines.write)
        end = monotonic() + DRAIN_S
        for thread in [one for one, awaited in self._under_way.items() if awaited]:
            thread.join(max(0.0, end - monotonic()))

    def _begin(self, line: bytes, message: Mapping[str, Any], write: Callable[[bytes], None]) -> None:
        thread = threading.Thread(target=self._exchange, args=(line, message, write), daemon=True)
        self._under_way = {one: awaited for one, awaited in self._under_way.items() if one.is_alive()}
        self._under_way[thread] = message.get("method") != LONG_LIVED
        thread.start()

    def _cancel(self, message: Mapping[str, Any]) -> None:
        """Who does not want the answer any more hangs up; the server notices."""
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
        ) as error:  # the last two: hung up by ourselves
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
        connection.sock.settimeout(None)  # a tool takes as long as it takes
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
    """The messages of an answer, each as soon as it is there."""
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
    """A header's value; the protocol wraps what is none in base64."""
    if name.isascii() and name.isprintable() and name == name.strip():
        return name
    from base64 import b64encode

    return f"=?base64?{b64encode(name.encode()).decode()}?="
