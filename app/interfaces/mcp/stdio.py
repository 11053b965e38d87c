"""MCP server on standard input and output, with the transport of the official library."""

from __future__ import annotations

from typing import Any

import anyio
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import (
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)

from clawmem.app.client.tool_sets import DRAIN_S, LONG_LIVED
from clawmem.app.interfaces.mcp.calling import ToolServer


async def serve(server: ToolServer) -> None:
    """
    Serve until the end of input.

    The library cancels running requests at the end of input. Therefore it sees that end only after their answers, or
    after `DRAIN_S` seconds.
    """
    server.is_one_connection = True
    protocol = server.protocol
    running: set[Any] = set()  # ids of requests
    answered = anyio.Condition()

    async def receive(to_protocol: Any) -> None:
        async with to_protocol:
            async for message in incoming:
                if isinstance(message, Exception):  # the library only logs it
                    error = ErrorData(code=PARSE_ERROR, message="The line is no JSON-RPC message.")
                    await outgoing.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=None, error=error)))
                    continue
                content = message.message
                if isinstance(content, JSONRPCRequest) and content.method != LONG_LIVED:
                    running.add(content.id)
                elif isinstance(content, JSONRPCNotification) and content.method == "notifications/cancelled":
                    running.discard((content.params or {}).get("requestId"))
                await to_protocol.send(message)
            with anyio.move_on_after(DRAIN_S):
                async with answered:
                    while running:
                        await answered.wait()

    async def send(from_protocol: Any) -> None:
        async with outgoing:
            async for message in from_protocol:
                await outgoing.send(message)
                if isinstance(message.message, JSONRPCResponse | JSONRPCError):
                    async with answered:
                        running.discard(message.message.id)
                        answered.notify_all()

    async with stdio_server() as (incoming, outgoing), anyio.create_task_group() as tasks:
        to_protocol, requests = anyio.create_memory_object_stream[Any](0)
        answers, from_protocol = anyio.create_memory_object_stream[Any](0)
        tasks.start_soon(receive, to_protocol)
        tasks.start_soon(send, from_protocol)
        async with answers:
            await protocol.run(requests, answers, protocol.create_initialization_options())
