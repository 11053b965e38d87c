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
from http.client import HTTPException
from pathlib import Path
from typing import Any

from clawmem.app.client.autostart import found_or_started
from clawmem.app.client.request import ToolSet, connected, fault_of_server, token_of
from clawmem.app.environment.places import FILES_VARIABLE, default_vault

CONNECT_S = 10.0  # a server that computes for several requests answers late
DRAIN_S = 10.0  # for running requests at the end of input
AWAY = "The server of this vault is not there any more. Start clawmem serve again, or connect anew."


def forwarded(named: Path | None, tools: ToolSet) -> bool:
    """
    Forward the session to a server of the vault *named*, by default the usual one; return whether there is one.

    A server is started if hooks may start one: importing the MCP library here would take longer than its start. Each
    running request has at most `DRAIN_S` seconds after the end of input.
    """
    vault = named or default_vault(os.environ)
    environ = {**os.environ, "INDEX_PATH": str(vault)}
    # a server has its own folder of files, and one that hangs would block the assistant
    server = None if os.environ.get(FILES_VARIABLE) else found_or_started(environ)
    if server is None or fault_of_server(server):
        return False
    version, writing = "", threading.Lock()  # the negotiated version of the protocol

    def write(message: dict[str, Any], answer: bytes) -> None:
        nonlocal version
        if message.get("method") == "initialize":
            version = str(_object(_object(answer).get("result")).get("protocolVersion", ""))
        if answer:
            with writing:
                sys.stdout.buffer.write(answer + b"\n")
                sys.stdout.buffer.flush()

    def forward(line: bytes, message: dict[str, Any]) -> None:
        """Forward *message* to whichever server runs now, and write the answers as they arrive."""
        try:
            if (server := found_or_started(environ)) is None:
                raise ConnectionError
            headers = {"Host": server.authority, "Authorization": f"Bearer {token_of(vault, environ)}"}
            with connected(server, CONNECT_S) as connection:
                connection.request("POST", tools.path, line, headers | _headers(message, version))
                response = connection.getresponse()
                if response.getheader("content-type", "").startswith("text/event-stream"):
                    for event in filter(lambda text: text.startswith(b"data:"), response):
                        write(message, event[5:].strip())
                elif _object(answer := response.read().replace(b"\n", b" ")):
                    write(message, answer)
                elif response.status >= 400:
                    raise ConnectionError(f"it answers {response.status}")
        except (OSError, HTTPException, ValueError) as error:
            if "id" in message:
                failure = {"code": -32_001, "message": f"{AWAY} {error}".strip()}
                write(message, json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": failure}).encode())

    running: list[threading.Thread] = []
    for line in filter(bytes.strip, map(paired, sys.stdin.buffer)):
        message = _object(line)
        running.append(threading.Thread(target=forward, args=(line, message), daemon=True))
        running[-1].start()
        if message.get("method") == "initialize":
            running[-1].join()  # later messages need the negotiated version
        running = [*filter(threading.Thread.is_alive, running)]
    for thread in running:
        thread.join(DRAIN_S)
    return True


def _headers(message: dict[str, Any], version: str) -> dict[str, str]:
    """Return the headers of the protocol for *message*, whose own version is newer than a negotiated one."""
    params = _object(message.get("params"))
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    own = _object(params.get("_meta")).get("io.modelcontextprotocol/protocolVersion")
    if own:
        name = base64.b64encode(str(params.get("name") or params.get("uri") or "").encode()).decode()
        headers |= {"mcp-method": str(message.get("method", "")), "mcp-name": f"=?base64?{name}?="}
    return headers | ({"mcp-protocol-version": str(own or version)} if own or version else {})


def paired(line: bytes) -> bytes:
    """Return *line*, a JSON text, without lone surrogates: the library of the protocol does not answer such a request."""
    if not re.search(rb"\\u[dD][89a-fA-F]", line):
        return line
    return json.dumps(_object(line), ensure_ascii=False).encode("utf-8", "replace")


def _object(value: object) -> dict[str, Any]:
    """Return *value*, or the JSON in its bytes, if it is an object; else an empty one."""
    if isinstance(value, bytes):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            value = None
    return value if isinstance(value, dict) else {}
