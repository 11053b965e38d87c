"""Documents by address and their context: get, multi-get, list, timeline, sessions, export."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Any

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from typing_extensions import TypedDict

from clawmem.app.bootstrap.services import Services
from clawmem.app.interfaces.rest.operation import Asked, Nothing, Operation, as_json, reading
from clawmem.app.interfaces.rest.reading import read_asked
from clawmem.app.operations.fields import named_collections
from clawmem.app.records import documents
from clawmem.app.records.documents import Listed, Order, Part, order_of, part_of
from clawmem.app.records.parameters import ADDRESS
from clawmem.app.records.provenance import provenance_of, title_of
from clawmem.app.records.succession import Successor, successor_of
from clawmem.app.serve.inside import Inside
from clawmem.app.services.documents.lookup import MAX_BYTES
from clawmem.app.services.documents.sessions import latest_sessions
from clawmem.app.services.documents.timeline import AROUND, MOST_AROUND
from clawmem.app.services.retrieval.request import first_after
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.security.quoting import without_orders
from clawmem.ports.origin import Origin
from clawmem.ports.records import Document
from clawmem.ports.sessions import Session

MOST = 10_000  # most entries of a list
MOST_LINES = 2**31
EXPORT_VERSION = "1.0.0"
PAGE = 100  # documents read per page: other requests are answered between pages


class Named(Asked):
    """A document."""

    docid: str = Field(min_length=1, description=ADDRESS)


class NamedLines(Named):
    """Lines of a document."""

    from_line: int | None = Field(None, ge=1, le=MOST_LINES, description="Begin with this line of the file.")
    lines: int | None = Field(None, ge=1, le=MOST_LINES, description="At most so many lines.")


class Pattern(Asked):
    """Several documents."""

    pattern: str = Field(min_length=1, description="A glob such as notes/**/*.md, or names with commas.")
    max_bytes: int = Field(MAX_BYTES, ge=1, le=2**31, description="Leave larger documents out.")


class LatestDocuments(Asked):
    """Limits of a list of the latest documents."""

    limit: int = Field(10, ge=1, le=MOST, description="How many.")
    collection: str = Field("", description="Only these collections, with commas between them.")


class Around(Named):
    """A document, and the number of documents around it."""

    before: int = Field(AROUND, ge=1, le=MOST_AROUND, description="How many that were written before it.")
    after: int = Field(AROUND, ge=1, le=MOST_AROUND, description="How many that were written after it.")
    same_collection: bool = Field(False, description="Only of its collection.")
    as_of: str = Field("", description="The day, or moment, after which nothing was written yet.")


class LatestSessions(Asked):
    """Limits of a list of the latest sessions."""

    limit: int = Field(10, ge=1, le=MOST, description="How many.")
    as_of: str = Field("", description="As of this day.")


class Text(TypedDict):
    """One document; ``body`` has the requested lines, ``context`` the description of its folder."""

    docid: str
    path: str
    title: str
    origin: Origin
    trusted: bool
    collection: str
    contentType: str
    authoredAt: str
    modifiedAt: str
    bodyLength: int
    startLine: int
    totalLines: int
    body: str
    context: str | None
    supersededBy: Successor | None


class Missing(TypedDict):
    """A name that matched no document, and the reason."""

    name: str
    code: str
    message: str
    suggestions: list[str]


class Parts(TypedDict):
    """Several documents, and the documents that were left out."""

    pattern: str
    count: int
    errors: list[Missing]
    documents: list[Part]


class Sessions(TypedDict):
    """Sessions, newest first."""

    count: int
    sessions: list[Session]


class Export(TypedDict):
    """Every served document: all its fields, with its text."""

    version: str
    exported_at: str
    documents: list[dict[str, Any]]
    count: int


def get(services: Services, asked: NamedLines) -> Text:
    """Return the text of one document."""
    excerpt = services.lookup.get(asked.docid, from_line=asked.from_line, max_lines=asked.lines)
    document = excerpt.document
    return {
        "docid": excerpt.docid,
        "path": document.display_path,
        "title": title_of(document),
        **provenance_of(document.origin),
        "collection": document.collection,
        "contentType": document.content_type,
        "authoredAt": document.authored_at,
        "modifiedAt": document.modified_at,
        "bodyLength": document.body_length,
        "startLine": excerpt.start_line,
        "totalLines": excerpt.total_lines,
        "body": without_orders(excerpt.text, document.origin),
        "context": _context(services, document),
        "supersededBy": successor_of(excerpt.superseded_by),
    }


def multi_get(services: Services, asked: Pattern) -> dict[str, Any]:
    """Return the texts of several documents."""
    found = services.lookup.multi_get(asked.pattern, max_bytes=asked.max_bytes)
    parts = [part_of(excerpt) for excerpt in found.excerpts]
    return {"pattern": asked.pattern, "count": len(parts), "errors": found.errors, "documents": parts}


def latest(services: Services, asked: LatestDocuments) -> list[Listed]:
    """List the documents that were written last."""
    wanted = named_collections(services, asked.collection)
    return documents.latest(services, wanted, asked.limit)


def timeline(services: Services, asked: Around) -> Order:
    """List the documents written just before and after a document, and the session in which it was written."""
    found = services.timeline(
        services.lookup.find(asked.docid),
        before=asked.before,
        after=asked.after,
        same_collection=asked.same_collection,
        as_of=asked.as_of,
    )
    return order_of(found)


def sessions(services: Services, asked: LatestSessions) -> Sessions:
    """List the latest sessions and their results."""
    found = latest_sessions(services.vault.sessions, asked.limit, first_after(asked.as_of))
    return {"count": len(found), "sessions": found}


async def export(inside: Inside, request: Request) -> Response:
    """Export every document with its text, page by page; a page has the state at its own reading time."""
    await read_asked(Nothing, request)
    first = await _page(inside, 0)  # read first, so that an unreadable vault causes an error response
    return StreamingResponse(_exported(inside, first), media_type="application/json")


async def _exported(inside: Inside, page: list[dict[str, Any]]) -> AsyncIterator[bytes]:
    from clawmem.adapters.system.clock import SystemClock

    head = {"version": EXPORT_VERSION, "exported_at": iso_utc(SystemClock().now_ms())}
    yield as_json(head)[:-1] + b',"documents":['
    count = 0
    while page:
        yield (b"," if count else b"") + b",".join(map(as_json, page))
        count += len(page)
        page = await _page(inside, page[-1]["id"])
    yield f'],"count":{count}}}'.encode()


async def _page(inside: Inside, after: int) -> list[dict[str, Any]]:
    def read(services: Services) -> list[dict[str, Any]]:
        stored = services.vault.documents
        found: Iterable[Document] = stored.following(after, PAGE)
        return [{**_document(one), "body": stored.body(one.id) or ""} for one in found]

    return await inside.dispatcher.read(read)


def _document(one: Document) -> dict[str, Any]:
    return {**one._asdict(), "stamp": one.stamp and one.stamp._asdict()}


def _context(services: Services, document: Document) -> str | None:
    """Return the config file's descriptions of the folders above a document, the outermost first."""
    chosen = services.settings.collections.get(document.collection)
    said = chosen.context if chosen else {}
    fitting = [prefix for prefix in said if f"/{document.path}".startswith(f"/{prefix.strip('/')}")]
    return "\n\n".join(said[prefix] for prefix in sorted(fitting, key=len)) or None


OPERATIONS = (
    reading("GET", "/documents", Pattern, Parts, multi_get),
    reading("GET", "/documents/{docid:path}", NamedLines, Text, get),
    reading("GET", "/list", LatestDocuments, list[Listed], latest),
    reading("GET", "/timeline/{docid:path}", Around, Order, timeline),
    reading("GET", "/sessions", LatestSessions, Sessions, sessions),
    Operation("GET", "/export", "Every document with its text.", Nothing, Export, export),
)
