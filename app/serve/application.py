"""The web application of a server: REST API and MCP servers behind one access check."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.middleware import Middleware

from clawmem.app.interfaces.mcp.over_http import McpServers
from clawmem.app.interfaces.rest.application import rest_application
from clawmem.app.interfaces.rest.runtime import Runtime
from clawmem.app.interfaces.rest.security import MOST_BYTES, Gate


def application(runtime: Runtime, names: Sequence[str], token: str) -> FastAPI:
    """
    Return the ASGI application; the threads of *runtime* start and stop with its lifespan.

    Args:
        names: See `clawmem.app.interfaces.rest.security.names_of`.
        token: The token that every request must send; empty to require none.
    """
    mcp = McpServers(runtime.dispatcher, MOST_BYTES)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        with runtime.at_work():
            async with mcp.open():
                yield

    gate = Middleware(Gate, names=names, token=token)
    app = rest_application(runtime, middleware=[gate], lifespan=lifespan)
    app.routes.extend(mcp.routes())
    app.state.hang_up = mcp.hang_up
    return app
