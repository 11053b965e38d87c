"""Connections over which nobody says to the end what he wants, over real sockets."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
import uvicorn
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from uvicorn.server import ServerState

from clawmem.app.serve import host

SHORT_S, PAUSE_S, ANSWER_S, LONGEST_S = 0.2, 0.05, 1.2, 10.0
HEAD = b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 4\r\n\r\n"


async def app(scope: Any, receive: Any, send: Any) -> None:
    body = await Request(scope, receive).body()
    await asyncio.sleep(ANSWER_S)  # an answer may take as long as it takes
    await PlainTextResponse(body)(scope, receive, send)


async def _heard(parts: Sequence[bytes], *, forever: bytes = b"") -> bytes:
    config = uvicorn.Config(app, lifespan="off", log_config=None)
    config.load()
    made = (config, ServerState(), {})
    server = await asyncio.get_running_loop().create_server(lambda: host.Patient(*made), "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    for part in parts:
        writer.write(part)
        await asyncio.sleep(PAUSE_S)
    answer = asyncio.ensure_future(reader.read(1 << 16))
    async with asyncio.timeout(LONGEST_S):
        while forever and not answer.done():
            writer.write(forever)
            await asyncio.sleep(PAUSE_S)
        heard = await answer
    writer.close()
    server.close()
    return heard


@pytest.mark.parametrize(
    ("parts", "forever"),
    [
        ((), b""),
        ((b"POST / HTTP/1.1\r\n",), b""),
        ((b"POST / HTTP/1.1\r\n",), b"X-A: b\r\n"),
        ((HEAD,), b""),
        ((HEAD.replace(b": 4", b": 400000"),), b"a"),
    ],
)
def test_who_never_comes_to_the_end(
    monkeypatch: pytest.MonkeyPatch, parts: Sequence[bytes], forever: bytes
) -> None:
    """Silence, half a head or a body in drops: the connection is closed without a word."""
    monkeypatch.setattr(host, "ASKING_S", SHORT_S)

    assert asyncio.run(_heard(parts, forever=forever)) == b""


def test_who_takes_a_little_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request in parts is answered, and what the answer takes is not the caller's."""
    monkeypatch.setattr(host, "ASKING_S", ANSWER_S - SHORT_S)

    heard = asyncio.run(_heard((HEAD[:20], HEAD[20:], b"ab", b"cd")))

    assert heard.startswith(b"HTTP/1.1 200") and heard.endswith(b"abcd")
