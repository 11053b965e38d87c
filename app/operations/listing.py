"""Documents by their properties, or the latest ones, and their tags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import Field

from clawmem.app.bootstrap.services import Services
from clawmem.app.operations.fields import (
    CollectionNames,
    Conditions,
    LongLimit,
    TagNames,
    conditions_in,
    listed,
    named_collections,
    properties_to_read,
)
from clawmem.app.operations.operation import Command, Effect, Option, Result, operation
from clawmem.app.operations.output import Part, encodable, plural, table
from clawmem.app.services.documents.listing import check_filters, docids, documents_with
from clawmem.app.services.documents.records import DatedDocument, dated_fields, with_successor
from clawmem.app.services.documents.succession import current_successors
from clawmem.domain.documents.properties import read_filter, sort_key, tags_below
from clawmem.domain.security.quoting import title_to_read, without_orders
from clawmem.ports.documents import TAGS, Property
from clawmem.ports.records import Document, Origin, Scope
from clawmem.ports.vault import Vault

NO_DOCUMENTS = "No documents yet. Run: clawmem update"
NONE_MATCHES = "No document meets these conditions."
MOST_VALUES = 8  # that are named if no document meets the conditions
TITLE = "title"

PropertyValues = Mapping[str, Mapping[int, Sequence[Property]]]


class ListedDocument(DatedDocument):
    """A document in a list; ``properties`` are those that the conditions and the order name."""

    properties: dict[str, list[str]]


class Listing(Result):
    """The documents that meet the conditions, newest first; ``total`` includes documents that are not listed."""

    count: int
    total: int
    documents: list[ListedDocument]
    is_filtered: bool = Field(description="Whether there were conditions.")
    known_values: dict[str, list[str]] = Field(
        description="If no document meets the conditions: values of their properties, most frequent first."
    )

    @property
    def remarks(self) -> Sequence[str]:
        """Return how many documents meet the conditions and are not listed."""
        hidden = self.total - self.count
        more = f"{plural(hidden, 'more document')}: use a higher --limit."
        return [more] if hidden and self.is_filtered else []


def _ordered(
    documents: Sequence[Document], values: PropertyValues, sort: str, *, reverse: bool
) -> Sequence[Document]:
    """Return *documents*, newest first, in the requested order; notes without the property come last."""
    if not sort:
        return documents[::-1] if reverse else documents
    if sort == TITLE:
        return sorted(documents, key=lambda document: document.title.casefold(), reverse=reverse)
    by_document = next(found for name, found in values.items() if name.casefold() == sort.casefold())
    keys = {document.id: sort_key(by_document.get(document.id, ())) for document in documents}
    missing = sort_key(())
    having = sorted(
        (document for document in documents if keys[document.id] != missing),
        key=lambda document: keys[document.id],
        reverse=reverse,
    )
    return [*having, *(document for document in documents if keys[document.id] == missing)]


def _properties_of(document: Document, values: PropertyValues) -> dict[str, list[str]]:
    pairs = [(name, part.value) for name, known in values.items() for part in known.get(document.id, ())]
    return properties_to_read(pairs, document.origin)


def _known_values(vault: Vault, name: str, scope: Scope) -> list[str]:
    # Several notes have a value, so that no single origin is known: a value that reads like an order is never shown.
    found = vault.properties.values(name, scope)
    return [encodable(without_orders(value, Origin.IMPORTED)) for value in found if value][:MOST_VALUES]


def _listing_text(result: Listing) -> list[Part]:
    if not result.documents and not result.is_filtered:
        return [NO_DOCUMENTS]
    if not result.documents:
        known = [f"Values of {name}: {', '.join(few)}." for name, few in result.known_values.items() if few]
        return [" ".join([NONE_MATCHES, *known])]
    names = [*dict.fromkeys(name for document in result.documents for name in document.properties)]
    has_type = any(name.casefold() == "type" for name in names)  # the content type is read from this property
    rows = [
        (
            document.docid,
            document.authored_at[:10],
            *(() if has_type else (document.content_type,)),
            *(", ".join(document.properties.get(name, ())) for name in names),
            document.file,
            with_successor(title_to_read(document.title, document.origin), document.superseded_by),
        )
        for document in result.documents
    ]
    return [table(("docid", "written", *(() if has_type else ("type",)), *names, "file", "title"), rows)]


@operation(
    Effect.READS,
    name="list",
    text=_listing_text,
    route="/list",
    documents=lambda listing: listing.documents,
)
def list_documents(
    services: Services,
    limit: LongLimit = 10,
    collection: CollectionNames = "",
    tag: TagNames = "",
    where: Conditions = "",
    sort: Annotated[
        str, Field(description="Sort by this property, such as due, or by title; newest first without it.")
    ] = "",
    reverse: Annotated[bool, Field(description="Reverse the order.")] = False,
) -> Listing:
    """List the documents with some properties or tags; without conditions, those that were written last."""
    vault, tags, where = services.vault, listed(tag), conditions_in(where)
    ordering = [] if sort.strip() in ("", TITLE) else [sort.strip()]
    check_filters(vault.documents, vault.properties, tags, [*where, *ordering])
    scope = within = Scope(frozenset(named_collections(services, collection)))
    total = sum(vault.documents.collections(scope).values())
    if is_filtered := bool(tags or where):
        matching = documents_with(vault.documents, vault.properties, scope, tags, where)
        within, total = scope._replace(documents=matching), len(matching)
    # a name in another case is the same property
    names = {name.casefold(): name for name in [*(read_filter(text).name for text in where), *ordering]}
    values = {name: vault.properties.named(name) for name in names.values()}
    latest = vault.documents.latest(within, limit=None if sort.strip() or reverse else limit)
    documents = _ordered(latest, values, sort.strip(), reverse=reverse)[:limit]
    ids = docids(vault.documents, documents)
    newer = current_successors(vault.documents, vault.successions, ids)
    return Listing(
        count=len(documents),
        total=total,
        documents=[
            ListedDocument(
                **dated_fields(document, ids[document.id], newer.get(document.id)),
                properties=_properties_of(document, values),
            )
            for document in documents
        ],
        is_filtered=is_filtered,
        known_values={} if documents else {name: _known_values(vault, name, scope) for name in values},
    )


class TagCount(Result):
    """A tag, and the number of notes with it or with a tag below it."""

    tag: str
    count: int


class Tags(Result):
    """The tags of notes, most used first; ``count`` includes tags that are not listed."""

    count: int
    tags: list[TagCount]


@operation(
    Effect.READS,
    text=lambda result: [f"#{tag.tag} ({tag.count})" for tag in result.tags] or "No note has a tag.",
    route="/tags",
    commands=(Command("tags"),),
)
def list_tags(
    services: Services,
    tag: Annotated[
        str,
        Field(description="Only this tag and those below it, such as project/garden."),
        Option(metavar="TAG", is_argument=True),
    ] = "",
    collection: CollectionNames = "",
    limit: LongLimit = 1000,
) -> Tags:
    """List the tags of notes, most used first; a note with a/b counts for a, too."""
    scope = Scope(frozenset(named_collections(services, collection)))
    counts = services.vault.properties.values(TAGS, scope)
    if tag:
        check_filters(services.vault.documents, services.vault.properties, [tag], ())
        below = tags_below(tag, counts)
        counts = {name: count for name, count in counts.items() if name in below}
    # Several notes have a tag, so that no single origin is known: a tag that reads like an order is never shown.
    listed = [(without_orders(name, Origin.IMPORTED), count) for name, count in [*counts.items()][:limit]]
    return Tags(count=len(counts), tags=[TagCount(tag=name, count=count) for name, count in listed])
