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
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from contextlib import suppress
from http.client import HTTPException
from io import BufferedReader
from pathlib import Path
from typing import Any

from clawmem.app.client.autostart import found_or_started, is_automatic
from clawmem.app.client.request import ToolSet, connected, fault_of_server, server_of, token_of
from clawmem.app.environment.places import FILES_VARIABLE, default_vault
from clawmem.ports.json_text import read_json

PATIENCE_S = 10.0  # for a server that computes for several requests, and for running ones at the end of input
AWAY = "The server of this vault does not answer any more. Start clawmem serve again, or connect anew."


def forwarded(named: Path | None, tools: ToolSet, wire: BufferedReader) -> bool:
    """
    Forward the messages of *wire* to a server of the vault *named*; return whether there is one.

    It is started if hooks may, but for no session without a message.
    """
    environ = {**os.environ, "INDEX_PATH": str(named or default_vault(os.environ))}
    if os.environ.get(FILES_VARIABLE):  # a server has its own folder of files
        return False
    server = server_of(environ["INDEX_PATH"], environ)
    if not server and is_automatic(environ) and wire.peek(1):
        server = found_or_started(environ)
    if server is None or fault_of_server(server):  # one that hangs would block the assistant
        return False
    version, writing = "", threading.Lock()  # the negotiated version of the protocol
    failures: list[OSError] = []  # of standard output

    def forward(line: bytes, is_first: bool) -> None:
        nonlocal version
        for answer in filter(None, _answers(line, tools.path, environ, version)):
            if is_first:
                version = str(_object(_object(answer).get("result")).get("protocolVersion", ""))
            with writing:
                try:
                    sys.stdout.buffer.write(answer + b"\n")
                    sys.stdout.buffer.flush()
                except OSError as error:
                    failures.append(error)

    for line in filter(bytes.strip, map(paired, wire)):
        is_first = _object(line).get("method") == "initialize"
        request = threading.Thread(target=forward, args=(line, is_first), daemon=True)
        request.start()
        if is_first:
            request.join()  # later messages need the negotiated version
    for thread in {*threading.enumerate()} - {threading.current_thread()}:
        thread.join(PATIENCE_S)
    if failures:
        raise failures[0]
    return True


def _answers(line: bytes, path: str, environ: Mapping[str, str], version: str) -> Iterator[bytes]:
    """Yield the answers of whichever server runs now to the message in *line*; an error if none runs."""
    if fault := fault_of_message(line):
        yield json.dumps(fault).encode()
        return
    message, headers = _object(line), {"Content-Type": "application/json"}
    params = _object(message.get("params"))
    own = _object(params.get("_meta")).get("io.modelcontextprotocol/protocolVersion")  # newer than *version*
    if own:
        name = base64.b64encode(str(params.get("name") or params.get("uri") or "").encode()).decode()
        headers |= {"mcp-method": str(message.get("method", "")), "mcp-name": f"=?base64?{name}?="}
    headers |= {"mcp-protocol-version": str(own or version)} if own or version else {}
    try:
        if (server := found_or_started(environ)) is None:
            raise ConnectionError
        token = token_of(default_vault(environ), environ)
        headers |= {"Host": server.authority, "Authorization": f"Bearer {token}"}
        with connected(server, PATIENCE_S) as connection:
            headers["Accept"] = "application/json, text/event-stream"
            connection.request("POST", path, line, headers)
            response = connection.getresponse()
            is_stream = response.getheader("content-type", "").startswith("text/event-stream")
            texts = (event[5:] for event in response if event.startswith(b"data:"))
            answer: dict[str, Any] = {}
            for text in texts if is_stream else [response.read()]:
                answer = _object(text)
                if "jsonrpc" in answer:
                    yield text.strip().replace(b"\n", b" ")
            if "jsonrpc" not in answer or "method" in answer:  # refused, busy, or ended within the answer
                rest = f"it answers {response.status} without a result"
                raise ValueError(answer["error"]) if "error" in answer else ConnectionError(rest)
    except (OSError, HTTPException, ValueError) as error:
        if {"id", "method"} <= message.keys():
            reason = str(error) if isinstance(error, ValueError) else f"{AWAY} {error}".strip()
            failure = {"code": -32_001, "message": reason}
            yield json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": failure}).encode()


def paired(line: bytes) -> bytes:
    """
    Return *line*, a JSON text, without lone surrogates and a byte order mark.

    The library of the protocol does not answer a request with one of them.
    """
    line = line.removeprefix(BOM_UTF8)
    return json.dumps(_object(line)).encode() if re.search(rb"\\u[dD][89a-fA-F]", line) else line


def fault_of_message(line: bytes) -> dict[str, Any] | None:
    """Return the answer to *line* if it is no message of JSON-RPC: the library of the protocol answers none to most."""
    message, code = _object(line), -32_600
    number, has_number = message.get("id"), type(message.get("id", 0)) in (int, str)
    is_call = type(message.get("method", "")) is str and {"method", "result", "error"} & message.keys()
    if (
        message.get("jsonrpc") == "2.0"
        and is_call
        and isinstance(message.get("params"), dict | None)
        and has_number
    ):
        return None
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        code = -32_700
    text = "Send one JSON-RPC 2.0 message and no batch; its id is a text or a whole number."
    return {"jsonrpc": "2.0", "id": number if has_number else None, "error": {"code": code, "message": text}}


def _object(value: object) -> dict[str, Any]:
    """Return *value*, or the JSON in its bytes, if it is an object; else an empty one."""
    if isinstance(value, bytes):
        with suppress(ValueError, RecursionError):
            value = read_json(value)
    return value if isinstance(value, dict) else {}
