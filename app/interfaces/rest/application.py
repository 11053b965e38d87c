"""The routes of the REST API, made from the models of requests and results: those of operations, and a few of their own."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from inspect import Parameter, Signature
from typing import Annotated, Any

from fastapi import Body, Depends, FastAPI, Header, Path, Query, Response
from fastapi import Request as HttpRequest
from fastapi.responses import StreamingResponse
from fastapi.security import HTTPBearer
from pydantic import BaseModel, Field, TypeAdapter, ValidationError, create_model

from clawmem.app.bootstrap.services import Services
from clawmem.app.client.hook_registry import EVENTS, HOOKS
from clawmem.app.client.request import OPTIONS_HEADER
from clawmem.app.interfaces.rest.security import HANDLERS, HINT, ErrorRecord, Json, as_json
from clawmem.app.operations.dispatch import Busy, Dispatcher, run
from clawmem.app.operations.operation import (
    AnyOperation,
    Effect,
    Request,
    Result,
    error_record,
    exit_code_of,
    operation,
    refusal_of,
)
from clawmem.app.operations.search import memory_retrieve
from clawmem.app.operations.table import all_operations, operation_named
from clawmem.app.services.indexing.collections import Collection
from clawmem.app.version import VERSION
from clawmem.domain.documents.times import iso_utc
from clawmem.ports.errors import ClawmemError, IndexBusy, InvalidInput, VaultLocked

EXPORT_VERSION = "1.0.0"
PAGE = 100  # documents read per page: other requests are answered between pages
CALLER = "rest"
# Temporary errors: a command does not report them, because it repeats the work itself a moment later.
TEMPORARY = (Busy, VaultLocked, IndexBusy)
# Returns the output line for an event of the hooks that a name names, with the choices of the caller.
AnswerEvent = Callable[[str, str, Mapping[str, str] | None], Awaitable[str]]
ABOUT = """Every answer is JSON. What goes wrong has a code, and a sentence that ends with the way out.
Show the token of the server: Authorization: Bearer TOKEN."""


class Health(Result):
    """The state of the server, and the numbers of documents and of texts without vectors."""

    status: str = "ok"
    service: str = "clawmem"
    version: str = VERSION
    pid: int
    database: str
    documents: int
    needsEmbedding: int  # noqa: N815
    hasVectors: bool  # noqa: N815


class Stats(Health):
    """The health, and the number of documents in each collection."""

    collections: list[Collection]


@operation(Effect.READS, route="/health", command="")
def health(services: Services) -> Health:
    """Return whether the server and its vault answer, and the numbers of documents and of texts without vectors."""
    embeddings = services.vault.embeddings
    return Health(
        pid=os.getpid(),
        database=str(services.settings.vault),
        documents=sum(services.vault.documents.collections().values()),
        needsEmbedding=embeddings.counts().pending,
        hasVectors=embeddings.fingerprint() is not None,
    )


@operation(Effect.READS, route="/stats", command="")
def stats(services: Services) -> Stats:
    """Return the health, and the number of documents in each collection."""
    return Stats(**dict(health(services)), collections=services.collections)


class OperationCall(Request):
    """A request to an operation, as the command line validated it."""

    request: dict[str, Any] = Field({}, description="The parameters of the operation by name.")
    vault: str | None = Field(None, description="The name of a vault; by default the usual one.")


class OperationAnswer(BaseModel):
    """The result of an operation; ``refused`` is the error record if the operation raised an error."""

    result: dict[str, Any] | None = None
    refused: dict[str, Any] | None = None
    exit_code: int = 0


def _page(services: Services, after: int) -> list[dict[str, Any]]:
    documents = services.vault.documents
    return [
        {
            **document._asdict(),
            "stamp": document.stamp and document.stamp._asdict(),
            "body": documents.body(document.id) or "",
        }
        for document in documents.following(after, PAGE)
    ]


ROUTES: tuple[AnyOperation, ...] = (
    *(health, stats, replace(memory_retrieve, route="/search")),
    *(each for each in all_operations() if each.route),
)


def _add_route(app: FastAPI, dispatcher: Dispatcher, operation: AnyOperation) -> None:
    """Add the route of *operation* to *app*; FastAPI describes it, and validates requests."""
    fields = operation.request.model_fields
    in_path = set(re.findall(r"{(\w+)", operation.route))
    parameters: dict[str, Any] = {"http": HttpRequest} | {
        name: Annotated[
            fields[name].annotation, *fields[name].metadata, Path(description=fields[name].description)
        ]
        for name in in_path
    }
    others = {name: (field.annotation, field) for name, field in fields.items() if name not in in_path}
    model: Any = operation.request
    if in_path:
        model = create_model(model.__name__, __config__=model.model_config, __doc__=model.__doc__, **others)  # type: ignore[call-overload]
    default: Any = Parameter.empty
    if operation.method == "GET":
        parameters["others"] = Annotated[model, Query()]
    else:
        parameters |= {"query_string": Annotated[Request, Query()], "others": Annotated[model, Body()]}
        if not any(field.is_required() for _, field in others.values()):
            default = model()  # the body may be missing

    async def endpoint(**given: Any) -> Response:
        request, query = given["others"], given["http"].query_params
        for name in query:
            if (count := len(query.getlist(name))) > 1 and not isinstance(getattr(request, name, None), list):
                raise InvalidInput("INVALID_INPUT", f"{name} takes one value, not {count}. {HINT}")
        try:
            if operation.method == "POST" and (body := await given["http"].body()):  # "yes" is not true there
                request = model.model_validate_json(body, strict=True)
            if in_path:  # parameters in the path are checked together with the others
                values = request.model_dump(exclude_unset=True) | {name: given[name] for name in in_path}
                request = operation.request.model_validate(values, by_name=True)
        except ValidationError as error:
            raise refusal_of(error, hint=HINT) from error
        missing = operation.route_defaults.keys() - request.model_fields_set
        request = request.model_copy(update={name: operation.route_defaults[name] for name in missing})
        return Json(operation.record(await run(dispatcher, operation, request, caller=CALLER)))

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
        operation.route,
        endpoint,
        methods=[operation.method],
        summary=operation.about.partition("\n")[0],
        operation_id=f"{operation.method} {operation.route}",
        response_model=operation.result,
        response_description="The result.",
    )


def rest_application(dispatcher: Dispatcher, answer_event: AnswerEvent, **options: Any) -> FastAPI:
    """Return an application with the REST routes, described at /openapi.json; *options* are FastAPI's."""
    app = FastAPI(
        title="clawmem",
        version=VERSION,
        description=ABOUT,
        docs_url=None,  # the pages would load scripts from other hosts
        redoc_url=None,
        dependencies=[Depends(HTTPBearer(scheme_name="token", auto_error=False))],  # `Gate` checks it
        responses={"default": {"model": ErrorRecord, "description": "Why nothing was done."}},
        exception_handlers=HANDLERS,
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
        **options,
    )
    for route in ROUTES:
        _add_route(app, dispatcher, route)

    @app.get("/export", response_model=dict[str, Any], operation_id="GET /export")
    async def export(nothing: Annotated[Request, Query()]) -> Response:
        """Export every document with its text, page by page; a page has the state at its own reading time."""
        # Read first, so that an unreadable vault causes an error response.
        first = await dispatcher.in_vault(lambda services: _page(services, 0))
        exported_at = await dispatcher.in_vault(lambda services: iso_utc(services.clock.now_ms()))

        async def parts() -> AsyncIterator[bytes]:
            yield as_json({"version": EXPORT_VERSION, "exported_at": exported_at})[:-1] + b',"documents":['
            count, documents = 0, first
            while documents:
                yield (b"," if count else b"") + b",".join(map(as_json, documents))
                count, last = count + len(documents), documents[-1]["id"]
                documents = await dispatcher.in_vault(partial(_page, after=last))
            yield f'],"count":{count}}}'.encode()

        return StreamingResponse(parts(), media_type="application/json")

    @app.post("/operations/{name}", response_model=OperationAnswer, operation_id="POST /operations/{name}")
    async def call(
        name: Annotated[str, Path(description="An operation that reads, such as query, list or status.")],
        call: Annotated[OperationCall, Body()],
    ) -> Response:
        """Run an operation that reads, by its name; errors that the command would report are part of the answer."""
        operation = operation_named(name)
        if not operation.reads or operation.in_own_process:
            raise InvalidInput("INVALID_INPUT", f"Operation {name} cannot be run here. {HINT}")
        try:
            request = operation.request.model_validate_json(as_json(call.request), strict=True)
            result = await run(dispatcher, operation, request, caller="cli", vault=call.vault)
        except ValidationError as error:
            raise refusal_of(error) from error
        except TEMPORARY:
            raise
        except ClawmemError as error:
            return Json(OperationAnswer(refused=error_record(error), exit_code=error.exit_code))
        return Json(OperationAnswer(result=operation.record(result), exit_code=exit_code_of(result)))

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
            choices = TypeAdapter(dict[str, str]).validate_json(options) if options is not None else None
        except ValidationError:
            raise InvalidInput("INVALID_INPUT", f"{OPTIONS_HEADER} is a JSON object of strings.") from None
        line = await answer_event(name, (await request.body()).decode("utf-8", "replace"), choices)
        return Response(line, media_type="application/json")

    return app
