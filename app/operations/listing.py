"""The latest documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from clawmem.app.operations.fields import (
    CollectionNames,
    DocumentReference,
    Successor,
    named_collections,
    place_from,
    successor_of,
    with_successor,
)
from clawmem.app.operations.operation import Command, Effect, Operation, Option, Request, Result
from clawmem.app.operations.output import Part, table
from clawmem.app.services.documents.listing import docids
from clawmem.app.services.documents.succession import current_successors
from clawmem.domain.security.quoting import title_to_read
from clawmem.ports.records import Scope

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services

MAX_LISTED = 10_000
NO_DOCUMENTS = "No documents yet. Run: clawmem update"


class ListDocuments(Request):
    """Number and collections of the documents to list."""

    limit: Annotated[
        int, Field(ge=1, le=MAX_LISTED, description="Maximum number."), Option(("-n", "--num", "--limit"))
    ] = 10
    collection: CollectionNames = ""


class ListedDocument(DocumentReference):
    """A document in a list."""

    content_type: str
    authored_at: str
    modified_at: str
    superseded_by: Successor | None = None


class Listing(Result):
    """The documents that were written last, newest first."""

    count: int
    documents: list[ListedDocument]


def list_documents(services: Services, request: ListDocuments) -> Listing:
    """List the documents that were written last."""
    collections = frozenset(named_collections(services, request.collection))
    documents = services.vault.documents.latest(Scope(collections), limit=request.limit)
    names = docids(services.vault.documents, documents)
    newer = current_successors(services.vault, names)
    listed = [
        ListedDocument(
            **place_from(one, names[one.id]),
            content_type=one.content_type,
            authored_at=one.authored_at,
            modified_at=one.modified_at,
            superseded_by=successor_of(newer.get(one.id)),
        )
        for one in documents
    ]
    return Listing(count=len(listed), documents=listed)


def _title(one: ListedDocument) -> str:
    return with_successor(title_to_read(one.title, one.origin), one.superseded_by)


def _listing_text(result: Listing) -> str:
    lines = [f"{one.authored_at[:10]} {one.file} ({one.docid}) {_title(one)}" for one in result.documents]
    return "\n".join(lines) or NO_DOCUMENTS


def _listing_parts(result: Listing) -> list[Part]:
    if not result.documents:
        return [NO_DOCUMENTS]
    rows = [
        (one.docid, one.authored_at[:10], one.content_type, one.file, _title(one)) for one in result.documents
    ]
    return [table(("docid", "written", "type", "file", "title"), rows)]


OPERATIONS = (
    Operation(
        name="list",
        run=list_documents,
        effect=Effect.READS,
        route="/list",
        commands=(Command("list"),),
        text=_listing_text,
        terminal=_listing_parts,
        documents=lambda listing: listing.documents,
    ),
)
