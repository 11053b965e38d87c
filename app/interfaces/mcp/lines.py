"""
Standard input and output as a channel of messages, one per line.

Other output of this process and its children goes to standard error. A signal ends the channel like the end of input:
nothing more is read, and running requests are answered first.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

PIECE = 65_536


class Lines:
    """The channel of this process; created once, by the main thread."""

    def __init__(self) -> None:
        self._in = os.dup(0)
        self._out = os.dup(1)
        self._one_at_a_time = threading.Lock()
        self._end, self._ended = os.pipe()
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(2, 1)
        sys.stdout = sys.stderr
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self.end())

    def end(self) -> None:
        """Stop reading; may be called from any thread or signal handler."""
        with suppress(OSError):
            os.write(self._ended, b"x")

    def read(self) -> Iterator[bytes]:
        """Yield lines until the end of input or a call of `end`."""
        from select import select

        rest = b""
        while True:
            ready, _, _ = select([self._in, self._end], [], [])
            piece = b"" if self._end in ready else os.read(self._in, PIECE)
            if not piece:
                return
            *lines, rest = (rest + piece).split(b"\n")
            yield from (line for line in lines if line.strip())

    def write(self, line: bytes) -> None:
        """Write one message; do nothing if the client has gone."""
        content = line.rstrip(b"\n") + b"\n"
        with self._one_at_a_time, suppress(OSError):
            while content:
                content = content[os.write(self._out, content) :]


PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS = -32_700, -32_600, -32_602


def refusal_of(line: bytes) -> bytes | None:
    """
    Return the JSON-RPC error for a line that is no message or a malformed one; ``None`` for any other.

    The error for a malformed notification is empty: the protocol forbids an answer to it.
    """
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return _error(None, PARSE_ERROR, "The line is not JSON. Send one JSON-RPC message a line.")
    if isinstance(message, list):
        return _error(None, INVALID_REQUEST, "Batches are not supported. Send one message a line.")
    if (
        not isinstance(message, dict)
        or message.get("jsonrpc") != "2.0"
        or _has_half_characters(line, message)
    ):
        return invalid_request(message)
    return _refusal_of_request(message) if "method" in message else _refusal_of_response(message)


def invalid_request(message: Any) -> bytes:
    """Return the error for a message of another shape than JSON-RPC 2.0 prescribes."""
    number = message.get("id") if isinstance(message, dict) else None
    return _error(number, INVALID_REQUEST, "The line is no message of JSON-RPC 2.0.")


def _refusal_of_request(message: dict[str, Any]) -> bytes | None:
    if not isinstance(message["method"], str) or ("id" in message and not _is_id(message["id"])):
        return invalid_request(message)
    params = message.get("params")
    if params is None or isinstance(params, dict):
        return None
    sentence = f"The params of {message['method']} must be an object."
    return _error(message["id"], INVALID_PARAMS, sentence) if "id" in message else b""


def _refusal_of_response(message: dict[str, Any]) -> bytes | None:
    answers = isinstance(message.get("result"), dict) or isinstance(message.get("error"), dict)
    return None if answers and "id" in message else invalid_request(message)


def _has_half_characters(line: bytes, message: Any) -> bool:
    if b"\\ud" not in line.lower():
        return False
    try:
        json.dumps(message, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def _is_id(number: Any) -> bool:
    return isinstance(number, str | int) and not isinstance(number, bool)


def _error(number: Any, code: int, sentence: str) -> bytes:
    known = number if _is_id(number) else None
    error = {"code": code, "message": sentence}
    return json.dumps({"jsonrpc": "2.0", "id": known, "error": error}).encode()
