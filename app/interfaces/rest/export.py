"""The export of all documents."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Any

from fastapi import Response
from fastapi.responses import StreamingResponse
from typing_extensions import TypedDict

from clawmem.app.bootstrap.services import Services
from clawmem.app.interfaces.rest.operation import Nothing, as_json
from clawmem.app.interfaces.rest.routes import RestRoute
from clawmem.app.interfaces.rest.runtime import Runtime
from clawmem.domain.documents.times import iso_utc
from clawmem.ports.records import Document

EXPORT_VERSION = "1.0.0"
PAGE = 100  # documents read per page: other requests are answered between pages


class Export(TypedDict):
    """Every served document: all its fields, with its text."""

    version: str
    exported_at: str
    documents: list[dict[str, Any]]
    count: int


async def export(runtime: Runtime, asked: Nothing) -> Response:
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


OPERATIONS = (RestRoute("GET", "/export", "Every document with its text.", Nothing, Export, export),)
