"""The routes of the REST API, made from the models of requests and results: those of operations, and a few of their own."""

from __future__ import annotations

import json
import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractContextManager
from inspect import Parameter, Signature, getdoc
from pathlib import Path as FilePath
from typing import Annotated, Any, NamedTuple, Protocol

from fastapi import Body, Depends, FastAPI, Header, Path, Query, Response
from fastapi import Request as HttpRequest
from fastapi.responses import StreamingResponse
from fastapi.security import HTTPBearer
from pydantic import BaseModel, Field, ValidationError, create_model

from clawmem.app.bootstrap.services import Services
from clawmem.app.client.hook_registry import EVENTS, HOOKS
from clawmem.app.client.request import OPTIONS_HEADER
from clawmem.app.interfaces.rest.errors import HANDLERS, HINT, ErrorRecord, Json, as_json
from clawmem.app.operations.dispatch import Busy, Dispatcher, run
from clawmem.app.operations.operation import AnyOperation, NoParameters, Request, exit_code_of
from clawmem.app.operations.refusals import error_record, refusal_of
from clawmem.app.operations.table import all_operations, operation_named
from clawmem.app.version import VERSION
from clawmem.domain.documents.times import iso_utc
from clawmem.ports.errors import ClawmemError, IndexBusy, InvalidInput, VaultLocked

EXPORT_VERSION = "1.0.0"
PAGE = 100  # documents read per page: other requests are answered between pages
CALLER = "rest"
# Temporary errors: a command does not report them, because it repeats the work itself a moment later.
TEMPORARY = (Busy, VaultLocked, IndexBusy)
ABOUT = """Every answer is JSON. What goes wrong has a code, and a sentence that ends with the way out.
Show the token of the server: Authorization: Bearer TOKEN."""


class Runtime(Protocol):
    """A running server: its vault, its threads and its answers to events of clients."""

    vault: FilePath

    @property
    def dispatcher(self) -> Dispatcher:
        """Threads that run operations."""

    async def answer_event(self, name: str, event: str, choices: Mapping[str, str] | None) -> str:
        """Return the output line for *event* of the hooks that *name* names."""

    def at_work(self) -> AbstractContextManager[None]:
        """Run the threads inside the block."""


class RestRoute(NamedTuple):
    """
    A route of the REST API.

    ``request`` describes the parameters: those in ``path``, and the others in the query string of a GET or the JSON
    object of a POST. ``result`` describes the result. ``respond`` receives the server and a request.
    """

    method: str
    path: str
    about: str
    request: type[BaseModel]
    result: Any
    respond: Callable[[Runtime, Any], Awaitable[Response]]


def _add_route(app: FastAPI, runtime: Runtime, route: RestRoute) -> None:
    """Add *route* to *app*; FastAPI describes it, and validates requests."""
    fields = route.request.model_fields
    in_path = set(re.findall(r"{(\w+)", route.path))
    parameters = {
        name: Annotated[
            fields[name].annotation, *fields[name].metadata, Path(description=fields[name].description)
        ]
        for name in in_path
    }
    others = {name: (field.annotation, field) for name, field in fields.items() if name not in in_path}
    model: Any = route.request
    if in_path:
        model = create_model(model.__name__, __config__=model.model_config, __doc__=model.__doc__, **others)  # type: ignore[call-overload]
    default: Any = Parameter.empty
    if route.method == "GET":
        parameters["others"] = Annotated[model, Query()]
    else:
        parameters |= {"query_string": Annotated[NoParameters, Query()], "others": Annotated[model, Body()]}
        if not any(field.is_required() for _, field in others.values()):
            default = model()  # the body may be missing

    async def endpoint(**given: Any) -> Response:
        request = given["others"]
        if in_path:  # parameters in the path are checked together with the others
            values = {**{name: given[name] for name in in_path}, **dict(request)}
            try:
                request = route.request.model_validate(values, by_name=True)
            except ValidationError as error:
                raise refusal_of(error, hint=HINT) from error
        return await route.respond(runtime, request)

    endpoint.__signature__ = Signature(  # type: ignore[attr-defined]
        [
            Parameter(
                name,
                Parameter.KEYWORD_ONLY,
                annotation=annotation,
                default=default if name == "others" else Parameter.empty,
            )
            for name, annotation in parameters.items()
        ]
    )
    app.router.add_api_route(
        route.path,
        endpoint,
        methods=[route.method],
        summary=route.about.partition("\n")[0],
        operation_id=f"{route.method} {route.path}",
        response_model=route.result,
        response_description="The result.",
    )


def health(services: Services) -> dict[str, Any]:
    """Return whether the server and its vault answer, and the numbers of documents and of texts without vectors."""
    return {
        "status": "ok",
        "service": "clawmem",
        "version": VERSION,
        "pid": os.getpid(),
        "database": str(services.settings.vault),
        "documents": sum(services.vault.documents.collections().values()),
        "needsEmbedding": services.vault.embeddings.counts().pending,
        "hasVectors": services.vault.embeddings.fingerprint() is not None,
    }


def stats(services: Services) -> dict[str, Any]:
    """Return the health, and the number of documents in each collection."""
    return {**health(services), "collections": services.collections}


def _reading(path: str, work: Callable[[Services], object]) -> RestRoute:
    async def respond(runtime: Runtime, request: NoParameters) -> Response:
        return await runtime.dispatcher.read(lambda services: Json(work(services)))

    return RestRoute("GET", path, getdoc(work) or "", NoParameters, dict[str, Any], respond)


async def export(runtime: Runtime, request: NoParameters) -> Response:
    """Export every document with its text, page by page; a page has the state at its own reading time."""

    async def page(after: int) -> list[dict[str, Any]]:
        def read(services: Services) -> list[dict[str, Any]]:
            documents = services.vault.documents
            return [
                {
                    **document._asdict(),
                    "stamp": document.stamp and document.stamp._asdict(),
                    "body": documents.body(document.id) or "",
                }
                for document in documents.following(after, PAGE)
            ]

        return await runtime.dispatcher.read(read)

    async def exported(documents: list[dict[str, Any]]) -> AsyncIterator[bytes]:
        yield as_json({"version": EXPORT_VERSION, "exported_at": exported_at})[:-1] + b',"documents":['
        count = 0
        while documents:
            yield (b"," if count else b"") + b",".join(map(as_json, documents))
            count += len(documents)
            documents = await page(documents[-1]["id"])
        yield f'],"count":{count}}}'.encode()

    exported_at = await runtime.dispatcher.read(lambda services: iso_utc(services.clock.now_ms()))
    first = await page(0)  # read first, so that an unreadable vault causes an error response
    return StreamingResponse(exported(first), media_type="application/json")


class OperationCall(Request):
    """A request to an operation, as the command line validated it."""

    name: str = Field(description="The name of an operation that reads, such as query, list or status.")
    request: dict[str, Any] = Field({}, description="The parameters of the operation by name.")
    vault: str | None = Field(None, description="The name of a vault; by default the usual one.")


class OperationAnswer(BaseModel):
    """The result of an operation; ``refused`` is the error record if the operation raised an error."""

    result: dict[str, Any] | None = None
    refused: dict[str, Any] | None = None
    exit_code: int = 0


async def call(runtime: Runtime, call: OperationCall) -> Response:
    """Run an operation that reads, for a command; errors that the command would report are part of the answer."""
    operation = operation_named(call.name)
    if not operation.reads or operation.in_own_process:
        raise InvalidInput("INVALID_INPUT", f"Operation {call.name} cannot be run here. {HINT}")
    try:
        request = operation.request.model_validate(call.request)
        result = await run(runtime.dispatcher, operation, request, caller="cli", vault=call.vault)
    except ValidationError as error:
        raise refusal_of(error) from error
    except TEMPORARY:
        raise
    except ClawmemError as error:
        return Json(OperationAnswer(refused=error_record(error), exit_code=error.exit_code))
    return Json(OperationAnswer(result=operation.record(result), exit_code=exit_code_of(result)))


def _route_of(operation: AnyOperation) -> RestRoute:
    async def respond(runtime: Runtime, request: Any) -> Response:
        missing = operation.route_defaults.keys() - request.model_fields_set
        request = request.model_copy(update={name: operation.route_defaults[name] for name in missing})
        result = await run(runtime.dispatcher, operation, request, caller=CALLER)
        return Json(operation.record(result))

    return RestRoute(
        operation.method, operation.route, operation.about, operation.request, operation.result, respond
    )


ROUTES: tuple[RestRoute, ...] = (
    _reading("/health", health),
    _reading("/stats", stats),
    RestRoute("GET", "/export", "Every document with its text.", NoParameters, dict[str, Any], export),
    RestRoute(
        "POST",
        "/operations/{name}",
        "Run an operation that reads, by its name.",
        OperationCall,
        OperationAnswer,
        call,
    ),
    *(_route_of(operation) for operation in all_operations() if operation.route),
)


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
        _add_route(app, runtime, route)

    # A hook reads the body as it reads stdin, and ignores unknown members and malformed events; FastAPI only describes it.
    event = {"required": True, "content": {"application/json": {"schema": {"type": "object"}}}}

    @app.post(
        "/hooks/{name}",
        summary="Return what the hooks of an event say to it.",
        operation_id="POST /hooks/{name}",
        response_model=dict[str, Any],
        openapi_extra={"requestBody": event},
    )
    async def hook(
        name: Annotated[str, Path(description=f"One of: {', '.join((*EVENTS, *HOOKS))}.")],
        request: HttpRequest,
        options: Annotated[str | None, Header(alias=OPTIONS_HEADER)] = None,
    ) -> Response:
        try:
            choices = None if options is None else json.loads(options)
        except (ValueError, RecursionError):
            choices = ()
        if choices is not None and not (
            isinstance(choices, dict) and all(isinstance(value, str) for value in choices.values())
        ):
            raise InvalidInput("INVALID_INPUT", f"{OPTIONS_HEADER} is a JSON object of strings.")
        line = await runtime.answer_event(name, (await request.body()).decode("utf-8", "replace"), choices)
        return Response(line, media_type="application/json")

    return app
