"""Tools at ``/mcp`` of a server; the MCP library (27 MB) is loaded with the first request."""

from __future__ import annotations

from asyncio import Lock, to_thread
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
from starlette.routing import BaseRoute, Route

from clawmem.app.client.tool_sets import ToolSet, path_of

if TYPE_CHECKING:
    from anyio.abc import TaskGroup, TaskStatus
    from starlette.types import Receive, Scope, Send

    from clawmem.app.operations.dispatch import Dispatcher


class McpServers:
    """
    ASGI application of all tool sets, without sessions, so that a client that disconnects leaves no state.

    Args:
        dispatcher: Runs the tools.
        most_bytes: Largest body of a request.
    """

    def __init__(self, dispatcher: Dispatcher, most_bytes: int) -> None:
        self._dispatcher, self._most_bytes = dispatcher, most_bytes
        self._sets = {path_of(tools): tools for tools in ToolSet}
        self._managers: dict[str, Any] = {}
        self._making = Lock()
        self._tasks: TaskGroup

    def routes(self) -> list[BaseRoute]:
        """Return a route for each tool set."""
        return [Route(path, self) for path in self._sets]

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Run the servers inside the block."""
        async with anyio.create_task_group() as self._tasks:
            yield
            self._tasks.cancel_scope.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        async with self._making:
            if path not in self._managers:
                self._managers[path] = await self._tasks.start(self._run, self._sets[path])
        await self._managers[path].asgi_app(scope, receive, send)

    async def _run(self, tools: ToolSet, *, task_status: TaskStatus[Any]) -> None:
        """Run a server in a task of its own: the library requires that one task starts and stops it."""

        def make() -> Any:
            from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

            from clawmem.app.interfaces.mcp.server import MemoryServer

            # Host, origin and token were checked before.
            server = MemoryServer(self._dispatcher, tools).protocol
            return StreamableHTTPSessionManager(
                server, stateless=True, max_request_body_size=self._most_bytes
            )

        manager = await to_thread(make)
        async with manager.run():
            task_status.started(manager)
            await anyio.sleep_forever()
