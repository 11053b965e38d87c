"""The gate as an application sees it, without a network."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Message

from clawmem.app.interfaces.rest import security
from clawmem.app.interfaces.rest.security import Gate, names_of

NAMES = names_of("127.0.0.1", 7438, ("Memory.local",))


def asked(method: str, headers: list[tuple[str, str]], parts: tuple[bytes, ...] = (b"",)) -> int:
    """The status that a request gets, or that of the error its body ends in."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await PlainTextResponse(await Request(scope, receive).body())(scope, receive, send)

    async def run() -> int:
        body = [{"type": "http.request", "body": part, "more_body": True} for part in parts]
        waiting = iter([*body, {"type": "http.request", "body": b"", "more_body": False}])
        sent: list[Message] = []

        async def receive() -> Message:
            return next(waiting)

        async def send(message: Message) -> None:
            sent.append(message)

        raw = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers]
        scope = {"type": "http", "method": method, "path": "/", "headers": raw, "query_string": b""}
        try:
            await Gate(app, NAMES, "")(scope, receive, send)
        except security.HTTPException as error:
            return error.status_code
        return int(sent[0]["status"])

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:7438", 200),
        ("localhost:7438", 200),
        ("LOCALHOST:7438", 200),
        ("[::1]:7438", 200),
        ("memory.local:7438", 200),
        ("localhost", 421),
        ("localhost:74380", 421),
        ("localhost.evil.example:7438", 421),
        ("evil.example:7438", 421),
        ("", 421),
    ],
)
def test_names(host: str, status: int) -> None:
    """Exact, with the port."""
    assert asked("GET", [("Host", host)]) == status


def test_a_body_that_does_not_say_how_long_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is counted while it comes."""
    monkeypatch.setattr(security, "MOST_BYTES", 10)
    headers = [("Host", "localhost:7438"), ("Content-Type", "application/json; charset=utf-8")]

    assert asked("POST", headers, (b"12345", b"67890")) == 200
    assert asked("POST", headers, (b"12345", b"67890", b"1")) == 413
    assert asked("POST", [*headers, ("Content-Length", "11")]) == 413
