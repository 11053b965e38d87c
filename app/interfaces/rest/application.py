"""The routes of the REST API and their description: those of operations, and a few of their own."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Callable, Iterable
from inspect import getdoc
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Header, Path, Response
from fastapi import Request as HttpRequest
from fastapi.responses import StreamingResponse
from fastapi.security import HTTPBearer
from pydantic import AfterValidator, BaseModel, Field, ValidationError
from typing_extensions import TypedDict

from clawmem.app.bootstrap.services import Services
from clawmem.app.client.hook_registry import EVENTS, HOOKS
from clawmem.app.client.request import OPTIONS_HEADER
from clawmem.app.interfaces.rest.errors import HANDLERS, ErrorRecord
from clawmem.app.interfaces.rest.routes import Json, RestRoute, Runtime, add_route, as_json
from clawmem.app.operations.dispatch import Busy, run
from clawmem.app.operations.operation import AnyOperation, NoParameters, Request, exit_code_of
from clawmem.app.operations.refusals import error_record, refusal_of
from clawmem.app.operations.table import all_operations, operation_named
from clawmem.app.services.indexing.collections import Collection
from clawmem.app.version import VERSION
from clawmem.domain.documents.times import iso_utc
from clawmem.ports.errors import ClawmemError, IndexBusy, InvalidInput, VaultLocked
from clawmem.ports.records import Document

EXPORT_VERSION = "1.0.0"
PAGE = 100  # documents read per page: other requests are answered between pages

# A hook reads the body as it reads stdin, and ignores unknown members and malformed events; FastAPI only describes it.
EVENT = {"required": True, "content": {"application/json": {"schema": {"type": "object"}}}}

HookName = Annotated[str, Path(description=f"One of: {', '.join((*EVENTS, *HOOKS))}.")]


class Health(TypedDict):
    """A running server and its vault."""

    status: str
    service: str
    version: str
    pid: int
    database: str
    documents: int
    needsEmbedding: int
    hasVectors: bool


class Stats(Health):
    """Health, and the collections of the vault."""

    collections: list[Collection]


class Export(TypedDict):
    """Every served document: all its fields, with its text."""

    version: str
    exported_at: str
    documents: list[dict[str, Any]]
    count: int


def health(services: Services) -> Health:
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


def stats(services: Services) -> Stats:
    """Return the health, and the number of documents in each collection."""
    return {**health(services), "collections": services.collections}


async def export(runtime: Runtime, asked: NoParameters) -> Response:
    """Export every document with its text, page by page; a page has the state at its own reading time."""
    exported_at = await runtime.dispatcher.read(lambda services: iso_utc(services.clock.now_ms()))
    first = await _page(runtime, 0)  # read first, so that an unreadable vault causes an error response
    return StreamingResponse(_exported(runtime, exported_at, first), media_type="application/json")


async def _exported(runtime: Runtime, exported_at: str, page: list[dict[str, Any]]) -> AsyncIterator[bytes]:
    head = {"version": EXPORT_VERSION, "exported_at": exported_at}
    yield as_json(head)[:-1] + b',"documents":['
    count = 0
    while page:
        yield (b"," if count else b"") + b",".join(map(as_json, page))
        count += len(page)
        page = await _page(runtime, page[-1]["id"])
    yield f'],"count":{count}}}'.encode()


async def _page(runtime: Runtime, after: int) -> list[dict[str, Any]]:
    def read(services: Services) -> list[dict[str, Any]]:
        stored = services.vault.documents
        found: Iterable[Document] = stored.following(after, PAGE)
        return [{**_document(document), "body": stored.body(document.id) or ""} for document in found]

    return await runtime.dispatcher.read(read)


def _document(one: Document) -> dict[str, Any]:
    return {**one._asdict(), "stamp": one.stamp and one.stamp._asdict()}


def _reading(path: str, answered: Any, work: Callable[[Services], object]) -> RestRoute:
    async def respond(runtime: Runtime, request: NoParameters) -> Response:
        return await runtime.dispatcher.read(lambda services: Json(work(services)))

    return RestRoute("GET", path, getdoc(work) or "", NoParameters, answered, respond)


OWN_ROUTES = (
    _reading("/health", Health, health),
    _reading("/stats", Stats, stats),
    RestRoute("GET", "/export", "Every document with its text.", NoParameters, Export, export),
)


def add_hook_route(app: FastAPI, runtime: Runtime) -> None:
    """Add ``POST /hooks/EVENT`` to *app*: an event of a client, as `clawmem hook EVENT` reads it from stdin."""

    @app.post(
        "/hooks/{name}",
        summary="Return what the hooks of an event say to it.",
        operation_id="POST /hooks/{name}",
        response_model=dict[str, Any],
        openapi_extra={"requestBody": EVENT},
    )
    async def hook(
        name: HookName,
        request: HttpRequest,
        options: Annotated[str | None, Header(alias=OPTIONS_HEADER)] = None,
    ) -> Response:
        event = (await request.body()).decode("utf-8", "replace")
        line = await runtime.answer_event(name, event, _choices(options))
        return Response(line, media_type="application/json")


def _choices(header: str | None) -> dict[str, str] | None:
    if header is None:
        return None
    try:
        found = json.loads(header)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        raise InvalidInput("INVALID_INPUT", f"{OPTIONS_HEADER} is a JSON object of strings.")
    return found


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
    commands = [f"clawmem {command.words}" for command in operation.commands]
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
    return Json(OperationAnswer(result=operation.record(result), exit_code=exit_code_of(result)))


def route_of(operation: AnyOperation) -> RestRoute:
    """Return the route of *operation*."""

    async def respond(runtime: Runtime, request: Any) -> Response:
        missing = operation.route_defaults.keys() - request.model_fields_set
        request = request.model_copy(update={name: operation.route_defaults[name] for name in missing})
        result = await run(runtime.dispatcher, operation, request, caller=CALLER)
        return Json(operation.record(result))

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
