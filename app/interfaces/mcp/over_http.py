"""Tools at ``/mcp`` of a server; the MCP library (27 MB) is loaded with the first request."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from starlette.routing import BaseRoute, Route

from clawmem.app.client.tool_sets import ToolSet, path_of

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from clawmem.app.interfaces.mcp.calling import ToolServer
    from clawmem.app.operations.dispatch import Dispatcher


class McpServers:
    """
    MCP servers of all tool sets, without sessions, so that a client that disconnects leaves no state.

    Args:
        dispatcher: Runs the tools.
        most_bytes: Largest body of a request.
    """

    def __init__(self, dispatcher: Dispatcher, most_bytes: int) -> None:
        self._dispatcher = dispatcher
        self._most_bytes = most_bytes
        self._made: dict[ToolSet, Any] = {}
        self._servers: list[ToolServer] = []
        self._waiting: asyncio.Queue[tuple[ToolSet, asyncio.Future[Any]]] = asyncio.Queue()

    def routes(self) -> list[BaseRoute]:
        """Return a route for each tool set."""
        return [Route(path_of(one), _Entrance(self, one)) for one in ToolSet]

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Run the servers inside the block. The library requires that one task starts and stops them."""
        keeper = asyncio.create_task(self._keep())
        try:
            yield
        finally:
            keeper.cancel()
            with suppress(asyncio.CancelledError):
                await keeper

    def hang_up(self) -> None:
        """End the subscriptions, which never end on their own; the server waits for all other requests."""
        for server in self._servers:
            server.hang_up()

    async def manager(self, chosen: ToolSet) -> Any:
        """Return the session manager of a tool set; the first call creates it."""
        if chosen not in self._made:
            asked: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
            self._waiting.put_nowait((chosen, asked))
            return await asked
        return self._made[chosen]

    async def _keep(self) -> None:
        async with AsyncExitStack() as running:
            while True:
                chosen, asked = await self._waiting.get()
                try:
                    if chosen not in self._made:
                        manager = await asyncio.to_thread(self._make, chosen)
                        await running.enter_async_context(manager.run())
                        self._made[chosen] = manager
                    _settle(asked, self._made[chosen])
                except Exception as error:  # noqa: BLE001  passed on to the caller
                    _settle(asked, error)

    def _make(self, chosen: ToolSet) -> Any:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        from clawmem.app.interfaces.mcp.server import make_server

        # Host, origin and token were checked before.
        server = make_server(self._dispatcher, chosen)
        self._servers.append(server)
        return StreamableHTTPSessionManager(
            server.protocol, stateless=True, max_request_body_size=self._most_bytes
        )


def _settle(asked: asyncio.Future[Any], outcome: Any) -> None:
    if asked.done():
        return
    if isinstance(outcome, BaseException):
        asked.set_exception(outcome)
    else:
        asked.set_result(outcome)


class _Entrance:
    """ASGI application of a tool set; a class, because routes take a function for a request handler."""

    def __init__(self, servers: McpServers, chosen: ToolSet) -> None:
        self._servers = servers
        self._chosen = chosen

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        manager = await self._servers.manager(self._chosen)
        await manager.asgi_app(scope, receive, send)
