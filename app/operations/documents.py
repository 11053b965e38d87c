"""Documents: by address, one or several, by their properties, their tags and links, and notes near in meaning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any
from urllib.parse import quote

from pydantic import Field

from clawmem.app.bootstrap.services import Services
from clawmem.app.operations.fields import (
    MAX_LINES,
    Address,
    AsOf,
    CollectionNames,
    Conditions,
    FromLine,
    Limit,
    LongLimit,
    MaxLines,
    Names,
    OptionalAddress,
    TagNames,
    conditions_in,
    listed,
    named_collections,
    properties_to_read,
)
from clawmem.app.operations.operation import (
    Attachment,
    Command,
    Effect,
    Result,
    SelectedResult,
    argument,
    operation,
)
from clawmem.app.operations.output import Verbatim, encodable, plural, records_table
from clawmem.app.operations.search import Compact, SearchAnswer, answer_of, answer_parts
from clawmem.app.services.documents.listing import check_filters, documents_with
from clawmem.app.services.documents.lookup import MAX_BYTES, Excerpt, LookupFailure
from clawmem.app.services.documents.records import (
    DatedDocument,
    dated_fields,
    dated_fields_of,
    reference_to,
    successor_mark,
    with_successor,
)
from clawmem.app.services.documents.references import FoundLink, found_links
from clawmem.app.services.retrieval.pipelines import SIMILAR
from clawmem.app.services.retrieval.request import first_after
from clawmem.domain.documents.properties import read_filter, sort_key
from clawmem.domain.security.quoting import label_of_others, lines_to_read, title_to_read, without_orders
from clawmem.ports.documents import TAGS
from clawmem.ports.errors import InvalidInput
from clawmem.ports.models import is_remote
from clawmem.ports.records import Origin, Scope

BACKLINKS = 10  # of a note, shown with its text
LISTED = "docid authored_at=written changed_after=changed content_type=type properties file title"

ReadAsOf = Annotated[AsOf, "Mark a text that was changed after this day."]
LineNumbers = Annotated[bool, Field(description="Put its number before every line.")]


# -- the text of documents ------------------------------------------------------------------------------


class Text(SelectedResult, DatedDocument):
    """Lines of a document; only `get` has the last keys."""

    start_line: int
    total_lines: int
    text: str
    context: str = Field(default="", description="The descriptions of its folders in the config file.")
    properties: dict[str, list[str]] = Field(default={}, description="Front matter, fields and tags.")
    backlinks: list[FoundLink] = Field(default=[], description="The first links of other notes to this one.")
    note: str = Field(default="", description="A sentence of a model about it, or characteristic words.")
    entities: dict[str, str] = Field(default={}, description="Persons and things that it names, with kinds.")

    @property
    def remarks(self) -> Sequence[str]:
        """Return whose text it is, what supersedes or changed it, which notes link to it, and its properties."""
        marks = (label_of_others(self.origin), successor_mark(self.superseded_by))
        sources = [*dict.fromkeys(f"{link.source}:{link.line}" for link in self.backlinks)]
        facts = {"written": [self.authored_at[:10]], "origin": [str(self.origin)]}
        facts |= {"trusted": ["yes" if self.trusted else "no"]} | self.properties
        shown = "; ".join(f"{name}: {', '.join(values)}" for name, values in facts.items())
        links = [f"Links to {self.file}: {', '.join(sources)}."] if sources else []
        changes = [f"This text was changed on {self.changed_after[:10]}."] if self.changed_after else []
        return [
            *(f"{self.file} is {mark}." for mark in marks if mark),
            *changes,
            *links,
            title_to_read(shown, self.origin),
        ]

    @property
    def heading(self) -> str:
        """Return a line with its place, its title, and what supersedes it."""
        title = with_successor(title_to_read(self.title, self.origin), self.superseded_by)
        return f"{self.file} ({self.docid}), from line {self.start_line} of {self.total_lines}: {title}"

    @property
    def commented(self) -> str:
        """Return an HTML comment with the context, which a ``-->`` in it does not end; empty without one."""
        return f"<!-- Context: {self.context.replace('-->', '--&gt;')} -->\n\n" if self.context else ""

    @property
    def attachment(self) -> Attachment:
        """Return the text for an agent, quoted if others wrote it."""
        text = self.commented + "\n".join(lines_to_read(self.text, self.origin))
        return Attachment(f"clawmem://{quote(self.file)}", text)


class Texts(SelectedResult):
    """Several documents; ``errors`` are the names and documents that were left out."""

    count: int
    documents: list[Text]
    errors: list[LookupFailure]

    @property
    def problems(self) -> Sequence[str]:
        """Return why names and documents were left out."""
        return [failure.message for failure in self.errors]


def text_of(
    excerpt: Excerpt, *, is_numbered: bool, as_of: str = "", max_lines: int | None = None, **more: Any
) -> Text:
    """Return lines of a document as a result, without orders of others."""
    document = excerpt.document
    lines = without_orders(excerpt.text, document.origin).splitlines(keepends=True)[:max_lines]
    if is_numbered:
        lines = [f"{number}: {line}" for number, line in enumerate(lines, excerpt.start_line)]
    return Text(
        **dated_fields(document, excerpt.docid, excerpt.superseded_by, first_after(as_of)),
        start_line=excerpt.start_line,
        total_lines=excerpt.total_lines,
        text=encodable("".join(lines)),
        **more,
    )


@operation(
    Effect.READS,
    text=lambda result: result.heading,
    route="/documents/{file:path}",
    commands=(Command("get", fits=lambda words: len(words) == 1 and not {"*", "?"} & {*words[0]}),),
    terminal=lambda result: [Verbatim(f"{result.commented}{result.text}")],
    attachments=lambda result: [result.attachment],
)
def get(
    services: Services,
    file: Address,
    from_line: FromLine = None,
    max_lines: MaxLines = None,
    line_numbers: LineNumbers = False,
    as_of: ReadAsOf = "",
) -> Text:
    """Read one document, or lines of it: the address may end with :LINE."""
    excerpt, vault = services.lookup.get(file, from_line=from_line, max_lines=max_lines), services.vault
    document, origin = excerpt.document, excerpt.document.origin
    note, stored = vault.notes.get(document.id), vault.properties.many([document.id]).get(document.id, ())
    pairs = [(property.name, property.value) for property in stored if property.name != TAGS]
    pairs += [(TAGS, tag) for tag in document.tags]
    private = "Private: kept out of prompts and briefings." if document.id in services.withheld() else ""
    context = services.settings.context_of(document.collection, document.path)
    return text_of(
        excerpt,
        is_numbered=line_numbers,
        as_of=as_of,
        context=" ".join(filter(None, (private, context))),
        properties=properties_to_read(pairs, origin),
        backlinks=found_links(vault.documents, vault.links.incoming([document.id])[:BACKLINKS]),
        note=without_orders(note.context or ", ".join(note.keywords), origin) if note else "",
        entities={
            without_orders(entity.name, origin): entity.kind
            for entity in vault.entities.mentions(document.id)
        },
    )


@operation(
    Effect.READS,
    text=lambda result: "\n".join(text.heading for text in result.documents),
    route="/documents",
    commands=(Command("get"),),
    terminal=lambda result: [Verbatim(f"==> {text.heading} <==\n{text.text}\n") for text in result.documents],
    attachments=lambda result: [text.attachment for text in result.documents],
)
def multi_get(
    services: Services,
    pattern: Annotated[Names, "A glob, or names with commas.", Field(min_length=1), argument("NOTE...")],
    max_lines: MaxLines = None,
    max_bytes: Annotated[int, Field(ge=1, le=MAX_LINES, description="Leave out larger ones.")] = MAX_BYTES,
    line_numbers: LineNumbers = False,
    as_of: ReadAsOf = "",
) -> Texts:
    """Read several documents at once; names and documents that were left out are reported."""
    if not isinstance(pattern, str) and len(pattern) == 1:  # which may be several with commas
        [pattern] = pattern
    found = services.lookup.multi_get(pattern, max_bytes=max_bytes)
    texts = [
        text_of(excerpt, is_numbered=line_numbers, as_of=as_of, max_lines=max_lines)
        for excerpt in found.excerpts
    ]
    return Texts(count=len(texts), documents=texts, errors=[*found.errors])


# -- lists ----------------------------------------------------------------------------------------------


class ListedDocument(DatedDocument):
    """A document in a list; ``properties`` are those that the conditions and the order name."""

    properties: dict[str, list[str]]


class Listing(Result):
    """The documents that meet the conditions, newest first; ``total`` includes documents that are not listed."""

    count: int
    total: int
    documents: list[ListedDocument]
    remarks: list[str] = Field(default=[], description="Documents that are not listed.")


@operation(
    Effect.READS,
    name="list",
    text=lambda listing: (
        records_table(listing.documents, LISTED)
        if listing.documents
        else "No document meets this. If a note is missing, run: clawmem update; for a new folder, clawmem bootstrap PATH"
    ),
    route="/list",
)
def list_documents(
    services: Services,
    limit: LongLimit = 10,
    collection: CollectionNames = "",
    tag: TagNames = "",
    where: Conditions = "",
    sort: Annotated[str, "Sort by this property; else newest first."] = "",
    as_of: AsOf = "",
) -> Listing:
    """List the documents with some properties or tags; without conditions, those that were written last."""
    vault, tags, where, ordering = services.vault, listed(tag), conditions_in(where), [sort] if sort else []
    check_filters(vault.documents, vault.properties, tags, [*where, *ordering])
    moment = first_after(as_of)
    scope = Scope(frozenset(named_collections(services, collection)), authored_until=moment)
    total = sum(vault.documents.collections(scope).values())
    if tags or where:
        matching = documents_with(vault.documents, vault.properties, scope, tags, where)
        scope, total = scope._replace(documents=matching), len(matching)
    # a name in another case is the same property
    names = {name.casefold(): name for name in [*(read_filter(text).name for text in where), *ordering]}
    values = {name: vault.properties.named(name) for name in names.values()}
    documents = vault.documents.latest(scope, limit=None if sort else limit)
    if sort:
        sorting = values[names[sort.casefold()]]
        documents = sorted(documents, key=lambda note: sort_key(sorting.get(note.id, ())))[:limit]
    hidden = total - len(documents)
    remarks = [f"{plural(hidden, 'more document')}: use a higher limit."] if hidden else []
    fields = dated_fields_of(vault.documents, vault.successions, documents, moment)
    return Listing(
        count=len(documents),
        total=total,
        remarks=remarks,
        documents=[
            ListedDocument(
                **fields[document.id],
                properties=properties_to_read(
                    [
                        (name, part.value)
                        for name, known in values.items()
                        for part in known.get(document.id, ())
                    ],
                    document.origin,
                ),
            )
            for document in documents
        ],
    )


class TagCount(Result):
    """A tag, and the number of notes with it or with a tag below it."""

    tag: str
    count: int


@operation(
    Effect.READS,
    columns="tag count=notes",
    empty="No note has a tag. Write #tag in a note, or tags: in its front matter.",
    items="tags",
    route="/tags",
    commands=(Command("tags"),),
)
def list_tags(
    services: Services, collection: CollectionNames = "", limit: LongLimit = 1000
) -> list[TagCount]:
    """List the tags of notes, most used first; a note with a/b counts for a, too."""
    counts = services.vault.properties.values(TAGS, Scope(frozenset(named_collections(services, collection))))
    # Several notes have a tag, so that no single origin is known: a tag that reads like an order is never shown.
    return [
        TagCount(tag=without_orders(name, Origin.IMPORTED), count=count)
        for name, count in [*counts.items()][:limit]
    ]


# -- links, and what is near in meaning -------------------------------------------------------------------


@operation(
    Effect.READS,
    name="links",
    columns="source line written target problem",
    empty="No such links. [[Name]] in a note links it to another.",
    items="links",
    route="/links",
)
def find_links(
    services: Services,
    file: OptionalAddress = "",
    broken: Annotated[bool, "Only links that lead to no note, or no place of it."] = False,
    collection: CollectionNames = "",
    limit: LongLimit = 100,
    as_of: AsOf = "",
) -> list[FoundLink]:
    """List the links of a note and the links to it. Without a note, list all links that lead nowhere."""
    stored, names = services.vault.links, named_collections(services, collection)
    if file:
        document = services.lookup.find(file)
        found = [*stored.outgoing([document.id]), *([] if broken else stored.incoming([document.id]))]
    else:
        found, broken = stored.doubtful(Scope(frozenset(names))), True
    if moment := first_after(as_of):
        ends = {end for link in found for end in (link.document_id, link.target_id) if end}
        later = {
            number
            for number, note in services.vault.documents.many(ends).items()
            if note.authored_at >= moment
        }
        found = [link for link in found if later.isdisjoint((link.document_id, link.target_id))]
    links = (link for link in found_links(services.vault.documents, found) if link.problem or not broken)
    return [link for link in links if not names or link.source.partition("/")[0] in names][:limit]


@operation(
    Effect.READS,
    text=answer_parts,
    route="/graph/similar/{file:path}",
    commands=(Command("links", "--similar", fixed={"compact": False}),),
)
def find_similar(
    services: Services, file: Address, limit: Limit = SIMILAR, compact: Compact = True, as_of: AsOf = ""
) -> SearchAnswer:
    """List the documents nearest to a document in meaning; the score is a cosine."""
    document = services.lookup.find(file)
    if is_remote(services.embedder) and document.id in services.withheld():
        message = f"{document.display_path} is private, and the model of the vectors runs on another machine."
        raise InvalidInput("PRIVATE", message)
    near = services.find_similar(document, now_ms=services.clock.now_ms(), limit=limit, as_of=as_of)
    answer = answer_of(near, services.settings, as_of=as_of, compact=compact)
    return answer.model_copy(update={"reference": reference_to(services.vault.documents, document)})
