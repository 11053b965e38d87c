"""The application of the REST API: all routes, behind one access check."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import BaseRoute

from clawmem.app.interfaces.mcp.over_http import McpDoor
from clawmem.app.interfaces.rest import (
    commands,
    export,
    graph,
    health,
    hooks,
    lifecycle,
    operations,
    receipts,
    upkeep,
)
from clawmem.app.interfaces.rest.errors import HANDLERS
from clawmem.app.interfaces.rest.openapi import describing
from clawmem.app.interfaces.rest.operation import Operation
from clawmem.app.interfaces.rest.security import Gate
from clawmem.app.serve.inside import Inside

# The table of operations, with one module per family.
OPERATIONS: tuple[Operation, ...] = (
    *health.OPERATIONS,
    *hooks.OPERATIONS,
    *commands.OPERATIONS,
    *export.OPERATIONS,
    *graph.OPERATIONS,
    *lifecycle.OPERATIONS,
    *operations.OPERATIONS,
    *receipts.OPERATIONS,
    *upkeep.OPERATIONS,
)


def application(inside: Inside, names: Sequence[str], token: str) -> Starlette:
    """
    Return the ASGI application; its threads start and stop with its lifespan.

    Args:
        names: See `clawmem.app.interfaces.rest.security.names_of`.
        token: The token that every request must send; empty to require none.
    """
    mcp = McpDoor(inside)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        with inside.at_work():
            async with mcp.open():
                yield

    gate = Middleware(Gate, names=names, token=token)
    every = [*routes(inside), *mcp.routes()]
    app = Starlette(routes=every, middleware=[gate], exception_handlers=HANDLERS, lifespan=lifespan)
    app.state.hang_up = mcp.hang_up
    return app


def routes(inside: Inside) -> list[BaseRoute]:
    """Return a route for each operation, and one for their description."""
    return [one.route(inside) for one in (*OPERATIONS, describing(OPERATIONS))]
