"""The routes of the REST API and their description."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, FastAPI, Response
from fastapi.security import HTTPBearer
from pydantic import AfterValidator, BaseModel, Field, ValidationError

from clawmem.app.interfaces.rest.errors import HANDLERS, ErrorRecord
from clawmem.app.interfaces.rest.own_routes import OWN_ROUTES, add_hook_route
from clawmem.app.interfaces.rest.routes import Json, RestRoute, Runtime, add_route
from clawmem.app.operations.dispatch import Busy, run
from clawmem.app.operations.operation import Operation, Request
from clawmem.app.operations.refusals import error_record, refusal_of
from clawmem.app.operations.table import all_operations, operation_named
from clawmem.app.version import VERSION
from clawmem.ports.errors import ClawmemError, IndexBusy, InvalidInput, VaultLocked

CALLER = "rest"
# Temporary errors: a command does not report them, because it repeats the work itself a moment later.
TEMPORARY = (Busy, VaultLocked, IndexBusy)


def _known_name(name: str) -> str:
    """
    Return *name*; it is checked before the body.

    Raises:
        NotFound: There is no such operation.
        InvalidInput: It changes the vault, or reads or writes files of the process that calls it.
    """
    operation = operation_named(name)
    if operation.reads and not operation.in_own_process:
        return name
    routes = [f"{operation.method} {operation.route}"] if operation.route else []
    commands = [f"clawmem {one.words}" for one in operation.commands]
    raise InvalidInput(
        "INVALID_INPUT", f"Operation {name} cannot be run here. Use: {', or '.join([*routes, *commands])}"
    )


class OperationCall(Request):
    """A request to an operation, as the command line validated it."""

    name: Annotated[str, AfterValidator(_known_name)] = Field(
        description="The name of an operation that reads, such as query, list or status."
    )
    request: dict[str, Any] = Field({}, description="The parameters of the operation by name.")
    vault: str | None = Field(None, description="The name of a vault; by default the usual one.")


class OperationAnswer(BaseModel):
    """The result of an operation; ``refused`` is the error record if the operation raised an error."""

    result: dict[str, Any] | None = None
    refused: dict[str, Any] | None = None
    exit_code: int = 0


async def call(runtime: Runtime, asked: OperationCall) -> Response:
    """Run an operation that reads, for a command; errors that the command would report are part of the answer."""
    operation = operation_named(asked.name)
    try:
        request = operation.request.model_validate(asked.request)
        result = await run(runtime.dispatcher, operation, request, caller="cli", vault=asked.vault)
    except ValidationError as error:
        raise refusal_of(error) from error
    except TEMPORARY:
        raise
    except ClawmemError as error:
        return Json(OperationAnswer(refused=error_record(error), exit_code=error.exit_code))
    return Json(OperationAnswer(result=result.record(), exit_code=result.exit_code))


def route_of(operation: Operation[Any, Any]) -> RestRoute:
    """Return the route of *operation*."""

    async def respond(runtime: Runtime, request: Any) -> Response:
        result = await run(runtime.dispatcher, operation, request, caller=CALLER)
        return Json(result.record())

    return RestRoute(
        operation.method, operation.route, operation.about, operation.request, operation.result, respond
    )


OPERATIONS = (
    RestRoute(
        "POST",
        "/operations/{name}",
        "Run an operation that reads, by its name.",
        OperationCall,
        OperationAnswer,
        call,
    ),
    *(route_of(one) for one in all_operations() if one.route),
)


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
