"""Tools at ``/mcp`` of a server; the MCP library (27 MB) is loaded with the first request."""

from __future__ import annotations

from asyncio import Lock, to_thread
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
from anyio.abc import TaskGroup, TaskStatus
from starlette.routing import BaseRoute, Route

from clawmem.app.client.tool_sets import ToolSet, path_of

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from clawmem.app.operations.dispatch import Dispatcher


class McpRoute:
    """
    ASGI application of a tool set, without sessions, so that a client that disconnects leaves no state.

    It is a class, because routes take a function for a request handler.
    """

    def __init__(self, dispatcher: Dispatcher, tools: ToolSet, most_bytes: int) -> None:
        self._dispatcher, self._tools, self._most_bytes = dispatcher, tools, most_bytes
        self._manager: Any = None
        self._making = Lock()
        self.tasks: TaskGroup | None = None  # set while the server runs

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._making:
            if self._manager is None:
                assert self.tasks
                self._manager = await self.tasks.start(self._run)
        await self._manager.asgi_app(scope, receive, send)

    async def _run(self, *, task_status: TaskStatus[Any]) -> None:
        """Run the server in a task of its own: the library requires that one task starts and stops it."""

        def make() -> Any:
            from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

            from clawmem.app.interfaces.mcp.server import MemoryServer

            # Host, origin and token were checked before.
            server = MemoryServer(self._dispatcher, self._tools).protocol
            return StreamableHTTPSessionManager(
                server, stateless=True, max_request_body_size=self._most_bytes
            )

        manager = await to_thread(make)
        async with manager.run():
            task_status.started(manager)
            await anyio.sleep_forever()


class McpServers:
    """
    MCP servers of all tool sets.

    Args:
        dispatcher: Runs the tools.
        most_bytes: Largest body of a request.
    """

    def __init__(self, dispatcher: Dispatcher, most_bytes: int) -> None:
        self._servers = {tools: McpRoute(dispatcher, tools, most_bytes) for tools in ToolSet}

    def routes(self) -> list[BaseRoute]:
        """Return a route for each tool set."""
        return [Route(path_of(tools), server) for tools, server in self._servers.items()]

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Run the servers inside the block."""
        async with anyio.create_task_group() as tasks:
            for server in self._servers.values():
                server.tasks = tasks
            yield
            tasks.cancel_scope.cancel()
