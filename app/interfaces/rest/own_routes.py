"""Routes that no operation offers: the health of the server, the export of all documents, and the events of a client."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Callable, Iterable
from inspect import getdoc
from typing import Annotated, Any

from fastapi import FastAPI, Header, Path, Request, Response
from fastapi.responses import StreamingResponse
from typing_extensions import TypedDict

from clawmem.app.bootstrap.services import Services
from clawmem.app.client.hook_registry import EVENTS, HOOKS
from clawmem.app.client.request import OPTIONS_HEADER
from clawmem.app.interfaces.rest.routes import Json, RestRoute, Runtime, as_json
from clawmem.app.operations.collections import Collection, list_collections
from clawmem.app.operations.operation import NoParameters
from clawmem.app.version import VERSION
from clawmem.domain.documents.times import iso_utc
from clawmem.ports.errors import InvalidInput
from clawmem.ports.records import Document

EXPORT_VERSION = "1.0.0"
PAGE = 100  # documents read per page: other requests are answered between pages

# A hook reads the body as it reads stdin, and ignores unknown members and malformed events; FastAPI only describes it.
EVENT = {"required": True, "content": {"application/json": {"schema": {"type": "object"}}}}

HookName = Annotated[str, Path(description=f"One of: {', '.join((*EVENTS, *HOOKS))}.")]


class Health(TypedDict):
    """A running server and its vault; ``/stats`` has the numbers of the vault."""

    status: str
    service: str
    version: str
    pid: int
    database: str
    hasVectors: bool


class Stats(Health):
    """Health, and the numbers of the vault."""

    documents: int
    needsEmbedding: int
    collections: list[Collection]


class Export(TypedDict):
    """Every served document: all its fields, with its text."""

    version: str
    exported_at: str
    documents: list[dict[str, Any]]
    count: int


def health(services: Services) -> Health:
    """Return whether the server and its vault answer, without counting anything."""
    return {
        "status": "ok",
        "service": "clawmem",
        "version": VERSION,
        "pid": os.getpid(),
        "database": str(services.settings.vault),
        "hasVectors": services.vault.embeddings.fingerprint() is not None,
    }


def stats(services: Services) -> Stats:
    """Return the health, and the number of documents in each collection."""
    return {
        **health(services),
        "documents": sum(services.vault.documents.collections().values()),
        "needsEmbedding": services.vault.embeddings.counts().pending,
        "collections": list_collections(services),
    }


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
        return [{**_document(one), "body": stored.body(one.id) or ""} for one in found]

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
        name: HookName, request: Request, options: Annotated[str | None, Header(alias=OPTIONS_HEADER)] = None
    ) -> Response:
        event = (await request.body()).decode("utf-8", "replace")
        line = await runtime.hooks.answer(name, event, _choices(options))
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
