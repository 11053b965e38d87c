"""The routes of the REST API and their description."""

from __future__ import annotations

from typing import Any

from fastapi import Depends, FastAPI
from fastapi.security import HTTPBearer

from clawmem.app.interfaces.rest.errors import HANDLERS, ErrorRecord
from clawmem.app.interfaces.rest.operations import OPERATIONS
from clawmem.app.interfaces.rest.own_routes import OWN_ROUTES, add_hook_route
from clawmem.app.interfaces.rest.routes import RestRoute, Runtime, add_route
from clawmem.app.version import VERSION

ABOUT = """Every answer is JSON. What goes wrong has a code, and a sentence that ends with the way out.
Show the token of the server: Authorization: Bearer TOKEN."""

ROUTES: tuple[RestRoute, ...] = (*OWN_ROUTES, *OPERATIONS)


def rest_application(runtime: Runtime, **options: Any) -> FastAPI:
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
        add_route(app, runtime, route)
    add_hook_route(app, runtime)
    return app
