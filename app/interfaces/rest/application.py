"""The application of the REST API: all routes, behind one access check."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from fastapi import Depends, FastAPI
from fastapi.middleware import Middleware
from fastapi.security import HTTPBearer

from clawmem.app.interfaces.mcp.over_http import McpDoor
from clawmem.app.interfaces.rest import (
    commands,
    export,
    health,
    operations,
    upkeep,
)
from clawmem.app.interfaces.rest.errors import HANDLERS, ErrorRecord
from clawmem.app.interfaces.rest.hooks import add_hook_route
from clawmem.app.interfaces.rest.routes import RestRoute, add_route
from clawmem.app.interfaces.rest.security import Gate
from clawmem.app.serve.inside import Inside
from clawmem.app.version import VERSION

ABOUT = """Every answer is JSON. What goes wrong has a code, and a sentence that ends with the way out.
Show the token of the server: Authorization: Bearer TOKEN."""

ROUTES: tuple[RestRoute, ...] = (
    *health.OPERATIONS,
    *commands.OPERATIONS,
    *export.OPERATIONS,
    *operations.OPERATIONS,
    *upkeep.OPERATIONS,
)


def application(inside: Inside, names: Sequence[str], token: str) -> FastAPI:
    """
    Return the ASGI application; its threads start and stop with its lifespan.

    Args:
        names: See `clawmem.app.interfaces.rest.security.names_of`.
        token: The token that every request must send; empty to require none.
    """
    mcp = McpDoor(inside)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        with inside.at_work():
            async with mcp.open():
                yield

    app = rest_application(inside, middleware=[Middleware(Gate, names=names, token=token)], lifespan=lifespan)
    app.routes.extend(mcp.routes())
    app.state.hang_up = mcp.hang_up
    return app


def rest_application(inside: Inside, **options: Any) -> FastAPI:
    """Return an application with the REST routes, described at /openapi.json; *options* are FastAPI's."""
    app = FastAPI(
        title="clawmem",
        version=VERSION,
        description=ABOUT,
        docs_url=None,  # the pages would load scripts from other hosts
        redoc_url=None,
        dependencies=[
            Depends(HTTPBearer(scheme_name="token", auto_error=False))
        ],  # described; `Gate` checks it
        responses={"default": {"model": ErrorRecord, "description": "Why nothing was done."}},
        exception_handlers=HANDLERS,
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
        **options,
    )
    for route in ROUTES:
        add_route(app, inside, route)
    add_hook_route(app, inside)
    return app
