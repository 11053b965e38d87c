"""MCP server on standard input and output."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from typing import Any

import anyio

from clawmem.app.interfaces.mcp.bridge import DRAIN_S, LONG_LIVED
from clawmem.app.interfaces.mcp.calling import ToolServer
from clawmem.app.interfaces.mcp.lines import Lines, invalid_request, refusal_of


def run(server: ToolServer, lines: Lines) -> None:
    """Serve until the end of input; running requests are answered first."""
    server.is_one_connection = True
    anyio.run(_serve, server, lines)


async def _serve(server: ToolServer, lines: Lines) -> None:
    from mcp.server.stdio import stdio_server

    wire: Any = Wire(lines)
    protocol = server.protocol
    async with stdio_server(wire, wire) as (incoming, outgoing):
        await protocol.run(incoming, outgoing, protocol.create_initialization_options())


class Wire:
    """
    Adapter of `Lines` to the streams of the official library.

    The library cancels running requests at the end of input. Therefore it is told of the end only after the last
    answer, or after a time limit.
    """

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._under_way: set[str] = set()
        self._answered = asyncio.Event()
        self._arrived: asyncio.Queue[bytes | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, args=(loop,), daemon=True).start()

    async def __aiter__(self) -> AsyncIterator[str]:
        """Yield messages; a line that is no message is answered with an error."""
        while (line := await self._arrived.get()) is not None:
            if (refusal := _refusal(line)) is not None:
                if refusal:
                    await anyio.to_thread.run_sync(self._lines.write, refusal)
                continue
            self._note(line, ends=False)
            yield line.decode("utf-8", "replace")
        with anyio.move_on_after(DRAIN_S):
            while self._under_way:
                self._answered.clear()
                await self._answered.wait()

    async def write(self, text: str) -> None:
        """Send a message."""
        await anyio.to_thread.run_sync(self._lines.write, text.encode("utf-8", "replace"))
        self._note(text.encode("utf-8", "replace"), ends=True)

    async def flush(self) -> None:
        """Do nothing: `write` does not buffer."""

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        for line in self._lines.read():
            loop.call_soon_threadsafe(self._arrived.put_nowait, line)
        loop.call_soon_threadsafe(self._arrived.put_nowait, None)

    def _note(self, line: bytes, *, ends: bool) -> None:
        """Record which requests are unanswered."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return
        if not isinstance(message, dict):
            return
        method = message.get("method")
        if method == "notifications/cancelled" and isinstance(message.get("params"), dict):
            self._under_way.discard(json.dumps(message["params"].get("requestId")))
        elif ends and method is None:
            self._under_way.discard(json.dumps(message.get("id")))
        elif not ends and method not in (None, LONG_LIVED) and "id" in message:
            self._under_way.add(json.dumps(message["id"]))
        self._answered.set()


def _refusal(line: bytes) -> bytes | None:
    """Return the error for a line that the library would drop without an answer, or ``None``."""
    from mcp.types import jsonrpc_message_adapter
    from pydantic import ValidationError

    refusal = refusal_of(line)
    if refusal is not None:
        return refusal
    try:
        jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        message = json.loads(line)
        return invalid_request(message) if "id" in message else b""
    return None
