"""
Proxy between a client on standard input and a running server; it does not import the MCP library, which takes a second.

Every message is a request of its own: the server keeps no state between them, and the next one may go to another server.
"""

from __future__ import annotations

import base64
import json
import os
import sys
import threading
from collections.abc import Callable, Mapping
from functools import partial
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

from clawmem.app.client.announcement import Announcement, token_of
from clawmem.app.client.autostart import found_or_started
from clawmem.app.client.request import answers, bearer, connected, server_of
from clawmem.app.client.tool_sets import DRAIN_S, IN_ORDER_S, LONG_LIVED, ToolSet, path_of
from clawmem.app.environment.places import FILES_VARIABLE, default_vault

CONNECT_S = 1.0
AWAY = -32_001
AWAY_MESSAGE = "The server of this vault is not there any more. Start clawmem serve again, or connect anew."
Message = Mapping[str, Any]


def forwarded(named: Path | None, tools: ToolSet) -> bool:
    """Forward the session to a server of the vault *named*, by default the usual one; return whether there is one."""
    vault = named or default_vault(os.environ)
    environ = {**os.environ, "INDEX_PATH": str(vault)}
    find = partial(server_of, vault, environ)
    server = find()
    # A server has its own folder of files; one that hangs would block the assistant.
    if os.environ.get(FILES_VARIABLE) or server is None or not answers(server):
        return False
    Proxy(lambda: found_or_started(find, environ), path_of(tools), lambda: token_of(vault, environ)).run()
    return True


class Proxy:
    """Proxy to the server that *find* returns; *token* returns its token. ``None`` means that no server runs any more."""

    def __init__(self, find: Callable[[], Announcement | None], path: str, token: Callable[[], str]) -> None:
        self._find, self._path, self._token = find, path, token
        self._version = ""  # negotiated version of the protocol
        # By the id of each request that is not cancelled.
        self._connections: dict[str, HTTPConnection | None] = {}
        self._writing = threading.Lock()

    def run(self) -> None:
        """Forward messages until the end of input, and wait at most `DRAIN_S` seconds for each running request."""
        running: list[threading.Thread] = []
        last_call: threading.Thread | None = None
        for line in filter(bytes.strip, sys.stdin.buffer):
            message = _object(line)
            method = message.get("method")
            if method == "notifications/cancelled":
                number = json.dumps(_object(message.get("params")).get("requestId"))
                if connection := self._connections.pop(number, None):
                    connection.close()  # which the server notices
                continue
            is_call = method in ("tools/call", "resources/read")
            self._connections[json.dumps(message.get("id"))] = None
            arguments = (line, message, last_call if is_call else None)
            thread = threading.Thread(target=self._forward, args=arguments, daemon=True)
            thread.start()
            if method == "initialize":
                thread.join()  # later messages need the negotiated version
            last_call = thread if is_call else last_call
            if method != LONG_LIVED:
                running = [*filter(threading.Thread.is_alive, running), thread]
        for thread in running:
            thread.join(DRAIN_S)

    def _forward(self, line: bytes, message: Message, earlier: threading.Thread | None) -> None:
        """Forward *message* after the *earlier* call of this connection, and write the answers as they arrive."""
        number = json.dumps(message.get("id"))
        try:
            if earlier:
                earlier.join(IN_ORDER_S)
            server = self._find()
            if server is None or number not in self._connections:
                raise ConnectionError
            with connected(server, CONNECT_S) as connection:
                self._connections[number] = connection
                connection.request("POST", self._path, line, self._headers(server, message))
                response = connection.getresponse()
                is_stream = response.getheader("content-type", "").startswith("text/event-stream")
                events = (event[5:].strip() for event in response if event.startswith(b"data:"))
                content = b"" if is_stream else response.read().replace(b"\n", b" ")
                for answer in filter(None, events) if is_stream else [content] * bool(_object(content)):
                    self._write(message, answer)
                if response.status >= 400 and not _object(content):
                    raise ConnectionError(f"it answers {response.status}")
        except (
            OSError,
            HTTPException,
            AttributeError,
            ValueError,
        ) as error:  # the last two: a closed connection
            if "id" in message and number in self._connections:
                failure = {"code": AWAY, "message": f"{AWAY_MESSAGE} {error}".strip()}
                refusal = {"jsonrpc": "2.0", "id": message["id"], "error": failure}
                self._write(message, json.dumps(refusal).encode())
        finally:
            self._connections.pop(number, None)

    def _headers(self, server: Announcement, message: Message) -> dict[str, str]:
        params = _object(message.get("params"))
        modern = _object(params.get("_meta")).get("io.modelcontextprotocol/protocolVersion")
        headers = {"Host": server.authority, "Content-Type": "application/json", **bearer(self._token())}
        headers["Accept"] = "application/json, text/event-stream"
        if version := modern or self._version:
            headers["mcp-protocol-version"] = str(version)
        if modern:
            headers["mcp-method"] = str(message.get("method", ""))
            name = str(params.get("name") or params.get("uri") or "")
            is_plain = name.isascii() and name.isprintable() and name == name.strip()
            encoded = name if is_plain else f"=?base64?{base64.b64encode(name.encode()).decode()}?="
            headers |= {"mcp-name": encoded} if name else {}
        return headers

    def _write(self, message: Message, answer: bytes) -> None:
        if message.get("method") == "initialize":
            self._version = str(_object(_object(answer).get("result")).get("protocolVersion", ""))
        with self._writing:
            sys.stdout.buffer.write(answer + b"\n")
            sys.stdout.buffer.flush()


def _object(value: object) -> dict[str, Any]:
    """Return *value*, or the JSON in its bytes, if it is an object; else an empty one."""
    if isinstance(value, bytes):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            value = None
    return value if isinstance(value, dict) else {}
