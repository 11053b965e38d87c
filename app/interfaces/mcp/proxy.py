"""
Proxy between a client on standard input and a running server; it does not import the MCP library, which takes a second.

Every message is a request of its own: the server keeps no state between them, and the next one may go to another server.
"""

from __future__ import annotations

import base64
import json
import os
import re
import sys
import threading
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

from clawmem.app.client.autostart import found_or_started
from clawmem.app.client.request import Announcement, ToolSet, connected, fault_of_server, token_of
from clawmem.app.environment.places import FILES_VARIABLE, default_vault

CONNECT_S = 10.0  # a server that computes for several requests answers late
DRAIN_S = 10.0  # for running requests at the end of input
AWAY = -32_001
AWAY_MESSAGE = "The server of this vault is not there any more. Start clawmem serve again, or connect anew."


def forwarded(named: Path | None, tools: ToolSet) -> bool:
    """
    Forward the session to a server of the vault *named*, by default the usual one; return whether there is one.

    A server is started if hooks may start one: importing the MCP library here would take longer than its start.
    """
    if os.environ.get(FILES_VARIABLE):  # a server has its own folder of files
        return False
    proxy = Proxy(named or default_vault(os.environ), tools)
    server = found_or_started(proxy.environ)
    if server is None or fault_of_server(server):  # one that hangs would block the assistant
        return False
    proxy.run()
    return True


class Proxy:
    """Proxy to whichever server of *vault* runs when a message arrives."""

    def __init__(self, vault: Path, tools: ToolSet) -> None:
        self._vault, self._path = vault, tools.path
        self.environ = {**os.environ, "INDEX_PATH": str(vault)}
        self._version = ""  # negotiated version of the protocol
        self._connections: dict[str, HTTPConnection] = {}  # of running requests, by their id
        self._writing = threading.Lock()

    def run(self) -> None:
        """Forward messages until the end of input, and wait at most `DRAIN_S` seconds for each running request."""
        running: list[threading.Thread] = []
        for line in filter(bytes.strip, map(paired, sys.stdin.buffer)):
            message = _object(line)
            if message.get("method") == "notifications/cancelled":
                number = json.dumps(_object(message.get("params")).get("requestId"))
                if connection := self._connections.pop(number, None):
                    connection.close()  # which the server notices
                continue
            thread = threading.Thread(target=self._forward, args=(line, message), daemon=True)
            thread.start()
            if message.get("method") == "initialize":
                thread.join()  # later messages need the negotiated version
            running = [*filter(threading.Thread.is_alive, running), thread]
        for thread in running:
            thread.join(DRAIN_S)

    def _forward(self, line: bytes, message: dict[str, Any]) -> None:
        """Forward *message*, and write the answers as they arrive; nothing for a request that was cancelled."""
        number, connection = json.dumps(message.get("id")), None
        try:
            server = found_or_started(self.environ)
            if server is None:
                raise ConnectionError
            with connected(server, CONNECT_S) as connection:
                self._connections[number] = connection
                connection.request("POST", self._path, line, self._headers(server, message))
                response = connection.getresponse()
                if response.getheader("content-type", "").startswith("text/event-stream"):
                    for event in filter(lambda text: text.startswith(b"data:"), response):
                        self._write(message, event[5:].strip())
                elif _object(content := response.read().replace(b"\n", b" ")):
                    self._write(message, content)
                elif response.status >= 400:
                    raise ConnectionError(f"it answers {response.status}")
        except (
            OSError,
            HTTPException,
            AttributeError,
            ValueError,
        ) as error:  # the last two: a closed connection
            if "id" in message and self._connections.get(number) is connection:
                failure = {"code": AWAY, "message": f"{AWAY_MESSAGE} {error}".strip()}
                self._write(
                    message, json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": failure}).encode()
                )
        finally:
            self._connections.pop(number, None)

    def _headers(self, server: Announcement, message: dict[str, Any]) -> dict[str, str]:
        params = _object(message.get("params"))
        modern = _object(params.get("_meta")).get("io.modelcontextprotocol/protocolVersion")
        headers = {"Host": server.authority, "Content-Type": "application/json"}
        headers |= {
            "Accept": "application/json, text/event-stream",
            "Authorization": f"Bearer {token_of(self._vault, self.environ)}",
        }
        if version := modern or self._version:
            headers["mcp-protocol-version"] = str(version)
        if modern:
            headers["mcp-method"] = str(message.get("method", ""))
            if name := str(params.get("name") or params.get("uri") or ""):
                is_plain = name.isascii() and name.isprintable() and name == name.strip()
                encoded = f"=?base64?{base64.b64encode(name.encode()).decode()}?="
                headers["mcp-name"] = name if is_plain else encoded
        return headers

    def _write(self, message: dict[str, Any], answer: bytes) -> None:
        if message.get("method") == "initialize":
            self._version = str(_object(_object(answer).get("result")).get("protocolVersion", ""))
        if answer:
            with self._writing:
                sys.stdout.buffer.write(answer + b"\n")
                sys.stdout.buffer.flush()


def paired(line: bytes) -> bytes:
    """Return *line*, a JSON text, without lone surrogates: the library of the protocol does not answer such a request."""
    if not re.search(rb"\\u[dD][89a-fA-F]", line):
        return line
    try:
        return json.dumps(json.loads(line), ensure_ascii=False).encode("utf-8", "replace")
    except (ValueError, RecursionError):
        return line


def _object(value: object) -> dict[str, Any]:
    """Return *value*, or the JSON in its bytes, if it is an object; else an empty one."""
    if isinstance(value, bytes):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            value = None
    return value if isinstance(value, dict) else {}
