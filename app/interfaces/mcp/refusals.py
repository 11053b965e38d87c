"""Errors for lines that are no message of the protocol: the official library drops them without an answer."""

from __future__ import annotations

import json
from typing import Any

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
