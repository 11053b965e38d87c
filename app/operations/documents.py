"""Documents by address: one, several, and the latest ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, TypeVar
from urllib.parse import quote

from pydantic import Field, PrivateAttr

from clawmem.app.operations.fields import Address, Names, properties_to_read
from clawmem.app.operations.links import BACKLINKS, LinkRecord, backlink_remarks, backlinks_of
from clawmem.app.operations.operation import Attachment, Command, Effect, Option, Result, operation
from clawmem.app.operations.output import Part, encodable, verbatim
from clawmem.app.services.documents.lookup import MAX_BYTES, TOO_LARGE, Excerpt, LookupFailure
from clawmem.app.services.documents.records import (
    DocumentReference,
    Successor,
    place_from,
    successor_mark,
    successor_of,
    with_successor,
)
from clawmem.domain.security.quoting import label_of_others, lines_to_read, title_to_read, without_orders
from clawmem.ports.documents import TAGS
from clawmem.ports.errors import NotFound

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.ports.records import Document

MAX_LINES = MAX_SIZE = 2**31

MaxLines = Annotated[
    int | None,
    Field(ge=1, le=MAX_LINES, description="At most so many lines."),
    Option(("--lines",)),
]
LineNumbers = Annotated[bool, Field(description="Put its number before every line.")]


class Text(DocumentReference):
    """Lines of a document."""

    content_type: str
    authored_at: str
    modified_at: str
    start_line: int
    total_lines: int
    superseded_by: Successor | None = None
    moved_from: str | None = Field(default=None, description="The former path by which it was named.")
    text: str
    _verbatim: str = PrivateAttr("")

    @property
    def verbatim(self) -> str:
        """The text as it was written, orders of others included: for people, never for agents."""
        return self._verbatim

    @property
    def remarks(self) -> Sequence[str]:
        """Return the marks as sentences."""
        return [f"{self.file} is {mark}." for mark in self.marks]

    @property
    def marks(self) -> list[str]:
        """Return a label of the origin of a text of others, of its successor, and of its former path."""
        moved = f"the new path of {self.moved_from}" if self.moved_from else ""
        return [*filter(None, (label_of_others(self.origin), successor_mark(self.superseded_by), moved))]


T = TypeVar("T", bound=Text)


class Note(Result):
    """A note about a document; ``origin`` is ``rules`` or the model that wrote the note."""

    keywords: list[str]
    tags: list[str]
    context: str
    origin: str
    written_at: str
    version: int


class MentionedEntity(Result):
    """A person or thing that a document mentions."""

    name: str
    type: str


class Content(Text):
    """
    Lines of one document, with its note and its entities.

    ``context`` is from the config file, ``note.context`` from enrichment.
    """

    context: str | None = Field(
        default=None, description="The descriptions of its folders in the config file."
    )
    properties: dict[str, list[str]] = Field(
        description="Front matter, fields and tags, each with its values."
    )
    backlink_count: int = Field(description="Number of links of other notes to this one.")
    backlinks: list[LinkRecord] = Field(description=f"The first {BACKLINKS} of them.")
    note: Note | None = None
    entities: list[MentionedEntity]

    @property
    def remarks(self) -> Sequence[str]:
        """Return whose text it is, what supersedes it, and which notes link to it."""
        return [*super().remarks, *backlink_remarks(self.file, self.backlinks, self.backlink_count)]


class Texts(Result):
    """Several documents; ``errors`` are the names and documents that were left out."""

    count: int
    documents: list[Text]
    errors: list[LookupFailure]

    @property
    def remarks(self) -> Sequence[str]:
        """Return why names and documents were left out."""
        return [failure.message for failure in self.errors]


def text_of(
    kind: type[T], excerpt: Excerpt, *, is_numbered: bool, max_lines: int | None = None, **more: Any
) -> T:
    """Return lines of a document as a result of *kind*, which has *more* fields."""
    document = excerpt.document

    def shown(text: str) -> str:
        lines = text.splitlines(keepends=True)[:max_lines]
        if is_numbered:
            lines = [f"{number}: {line}" for number, line in enumerate(lines, excerpt.start_line)]
        return "".join(lines)

    text = kind(
        **place_from(document, excerpt.docid),
        content_type=document.content_type,
        authored_at=document.authored_at,
        modified_at=document.modified_at,
        start_line=excerpt.start_line,
        total_lines=excerpt.total_lines,
        superseded_by=successor_of(excerpt.superseded_by),
        moved_from=excerpt.moved_from or None,
        text=encodable(shown(without_orders(excerpt.text, document.origin))),
        **more,
    )
    text._verbatim = shown(excerpt.text)
    return text


def _properties_of(services: Services, document: Document) -> dict[str, list[str]]:
    found = services.vault.properties.many([document.id]).get(document.id, ())
    declared = [(one.name, one.value) for one in found if one.name != TAGS]
    return properties_to_read([*declared, *((TAGS, tag) for tag in document.tags)], document.origin)


def _note_about(services: Services, document: Document) -> Note | None:
    """Return the note about a document, without orders that a text of others gives."""
    note = services.vault.notes.get(document.id)
    if note is None:
        return None

    def cleaned(text: str) -> str:
        return encodable(without_orders(text, document.origin))

    return Note(
        keywords=[*map(cleaned, note.keywords)],
        tags=[*map(cleaned, note.tags)],
        context=cleaned(note.context),
        origin=note.origin,
        written_at=note.written_at,
        version=note.version,
    )


def _nothing_found(pattern: str, missed: Sequence[LookupFailure]) -> NotFound:
    error = NotFound(
        "document", pattern, suggestions=[name for failure in missed for name in failure.suggestions]
    )
    if missed:
        error.args = (" ".join(map(str, missed)),)
    return error


def _heading(one: Text) -> str:
    title = title_to_read(one.title, one.origin)
    return f"{one.file} ({one.docid}), from line {one.start_line} of {one.total_lines}: {title}"


def _context_comment(one: Content) -> str:
    """Return the context as an HTML comment above a text, which a ``-->`` in it does not end; empty without one."""
    return f"<!-- Context: {one.context.replace('-->', '--&gt;')} -->\n\n" if one.context else ""


def _attachment(one: Text, comment: str = "") -> Attachment:
    text = comment + "\n".join(lines_to_read(one.text, one.origin))
    return Attachment(f"clawmem://{quote(one.file)}", text, "text/markdown")


def _block(one: Text) -> Part:
    head = ", ".join([f"{one.file} ({one.docid})", *one.marks])
    return verbatim(f"==> {head} <==\n{one.verbatim}\n")


def _is_one(words: Sequence[str]) -> bool:
    return len(words) == 1 and not {"*", "?"}.intersection(words[0])


@operation(
    Effect.READS,
    text=_heading,
    in_own_process=True,
    route="/documents/{file:path}",
    commands=(Command("get", fits=_is_one),),
    terminal=lambda result: [verbatim(f"{_context_comment(result)}{result.verbatim}")],
    attachments=lambda result: [_attachment(result, _context_comment(result))],
)
def get(
    services: Services,
    file: Address,
    from_line: Annotated[
        int | None,
        Field(ge=1, le=MAX_LINES, description="Begin with this line."),
        Option(("--from",)),
    ] = None,
    max_lines: MaxLines = None,
    line_numbers: LineNumbers = False,
) -> Content:
    """Read one document, or lines of it: the address may end with :LINE."""
    excerpt = services.lookup.get(file, from_line=from_line, max_lines=max_lines)
    document = excerpt.document
    mentions = services.vault.entities.mentions(document.id)
    return text_of(
        Content,
        excerpt,
        is_numbered=line_numbers,
        context=services.settings.context_of(document.collection, document.path),
        properties=_properties_of(services, document),
        **backlinks_of(services, document),
        note=_note_about(services, document),
        entities=[
            MentionedEntity(name=without_orders(entity.name, document.origin), type=entity.kind)
            for entity in mentions
        ],
    )


@operation(
    Effect.READS,
    text=lambda result: "\n".join(
        with_successor(_heading(document), document.superseded_by) for document in result.documents
    ),
    in_own_process=True,
    route="/documents",
    commands=(Command("get"),),
    terminal=lambda result: [*map(_block, result.documents)],
    attachments=lambda result: [*map(_attachment, result.documents)],
)
def multi_get(
    services: Services,
    pattern: Annotated[
        Names,
        Field(min_length=1, description="A glob such as notes/**/*.md, or names with commas."),
        Option(metavar="NOTE...", is_argument=True),
    ],
    max_lines: MaxLines = None,
    max_bytes: Annotated[
        int, Field(ge=1, le=MAX_SIZE, description="Leave larger documents out.")
    ] = MAX_BYTES,
    line_numbers: LineNumbers = False,
) -> Texts:
    """Read several documents at once; names and documents that were left out are reported."""
    if not isinstance(pattern, str) and len(pattern) == 1:
        pattern = pattern[0]
    found = services.lookup.multi_get(pattern, max_bytes=max_bytes)
    if not found.excerpts and all(failure.code != TOO_LARGE for failure in found.errors):
        raise _nothing_found(pattern if isinstance(pattern, str) else ", ".join(pattern), found.errors)
    documents = [
        text_of(Text, excerpt, is_numbered=line_numbers, max_lines=max_lines) for excerpt in found.excerpts
    ]
    errors = [
        replace(failure, name=encodable(failure.name), message=encodable(failure.message))
        for failure in found.errors
    ]
    return Texts(count=len(documents), documents=documents, errors=errors)
