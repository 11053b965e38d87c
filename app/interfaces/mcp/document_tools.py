"""Tools that read documents, their neighbours and their time: get, multi_get, find_similar, timeline and so on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from mcp.types import CallToolResult, EmbeddedResource, TextResourceContents
from pydantic import Field

from clawmem.app.interfaces.mcp import schemas
from clawmem.app.interfaces.mcp.calling import answer
from clawmem.app.interfaces.mcp.rendering import session_lines, session_record
from clawmem.app.records.documents import latest, order_of, part_of
from clawmem.app.records.parameters import AsOf, Collections, Limit, Name, Vault
from clawmem.app.records.succession import Successor, marked
from clawmem.app.serve.dispatcher import Dispatcher
from clawmem.app.services.documents.lookup import MAX_BYTES
from clawmem.app.services.documents.timeline import MOST_AROUND
from clawmem.domain.security.quoting import lines_to_read, title_to_read
from clawmem.ports.errors import NotFound

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.services.documents.lookup import Excerpt

Around = Annotated[int, Field(ge=1, le=MOST_AROUND, description="How many on this side.")]
Numbered = Annotated[bool, Field(description="Put its number before every line.")]
MaxLines = Annotated[int | None, Field(ge=1, description="At most so many lines.")]


class DocumentTools:
    """Documents by name, and what lies around them."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher

    async def get(
        self,
        file: Name,
        fromLine: Annotated[int | None, Field(ge=1, description="Begin with this line.")] = None,  # noqa: N803
        maxLines: MaxLines = None,  # noqa: N803
        lineNumbers: Numbered = False,  # noqa: N803
        vault: Vault = None,
    ) -> Annotated[CallToolResult, schemas.Text]:
        """Read one document, or lines of it: file may end with :LINE."""
        excerpt = await self._dispatcher.read(
            lambda services: services.lookup.get(file, from_line=fromLine, max_lines=maxLines), vault
        )
        said = _text(excerpt, numbered=lineNumbers)
        return answer(_head(said), said, _resource(said))

    async def multi_get(
        self,
        pattern: Annotated[str, Field(description="A glob such as notes/**/*.md, or names with commas.")],
        maxLines: MaxLines = None,  # noqa: N803
        maxBytes: Annotated[int, Field(ge=1, description="Leave larger documents out.")] = MAX_BYTES,  # noqa: N803
        lineNumbers: Numbered = False,  # noqa: N803
        vault: Vault = None,
    ) -> Annotated[CallToolResult, schemas.Texts]:
        """Read several documents at once; says which were left out, and why."""
        found = await self._dispatcher.read(
            lambda services: services.lookup.multi_get(pattern, max_bytes=maxBytes), vault
        )
        if not found.excerpts:
            raise NotFound(
                "document", pattern, suggestions=[one for e in found.errors for one in e.suggestions]
            )
        texts = [_text(one, numbered=lineNumbers, at_most=maxLines) for one in found.excerpts]
        said = schemas.Texts(documents=texts, errors=[str(error) for error in found.errors])
        return answer("\n".join([*map(_head, texts), *said.errors]), said, *map(_resource, texts))

    async def list_documents(
        self, limit: Limit = 10, collection: Collections = "", vault: Vault = None
    ) -> Annotated[CallToolResult, schemas.Documents]:
        """List the documents that were written last."""

        def work(services: Services) -> schemas.Documents:
            from clawmem.app.operations.fields import named_collections

            found = latest(services, named_collections(services, collection), limit)
            return schemas.Documents.model_validate({"documents": found})

        said = await self._dispatcher.read(work, vault)
        lines = [f"{one.authored_at[:10]} {one.file} ({one.docid}) {_title(one)}" for one in said.documents]
        return answer("\n".join(lines) or "There are no documents yet.", said)

    async def timeline(
        self,
        docid: Name,
        before: Around = 5,
        after: Around = 5,
        same_collection: Annotated[bool, Field(description="Only of its collection.")] = False,
        as_of: AsOf = "",
        vault: Vault = None,
    ) -> Annotated[CallToolResult, schemas.Timeline]:
        """List the documents written just before and after a document, and the session in which it was written."""

        def work(services: Services) -> schemas.Timeline:
            found = services.timeline(
                services.lookup.find(docid),
                before=before,
                after=after,
                same_collection=same_collection,
                as_of=as_of,
            )
            return schemas.Timeline.model_validate(order_of(found))

        said = await self._dispatcher.read(work, vault)
        marked = (
            [(" ", one) for one in said.before] + [(">", said.focus)] + [(" ", one) for one in said.after]
        )
        lines = [
            f"{mark} {one.authored_at[:16]} {one.file} ({one.docid}) {_title(one)}" for mark, one in marked
        ]
        return answer("\n".join(lines), said)

    async def session_log(
        self, limit: Limit = 10, as_of: AsOf = "", vault: Vault = None
    ) -> Annotated[CallToolResult, schemas.Sessions]:
        """Who worked with the memory lately, and what came of it."""

        def work(services: Services) -> schemas.Sessions:
            from clawmem.app.services.documents.sessions import latest_sessions
            from clawmem.app.services.retrieval.request import first_after

            found = latest_sessions(services.vault.sessions, limit, first_after(as_of))
            return schemas.Sessions(sessions=[session_record(one) for one in found])

        said = await self._dispatcher.read(work, vault)
        lines = session_lines(said.sessions) or ["No sessions are written down yet."]
        return answer("\n".join(lines), said)


def _text(excerpt: Excerpt, *, numbered: bool = False, at_most: int | None = None) -> schemas.Text:
    part = part_of(excerpt)
    lines = part["text"].splitlines(keepends=True)[:at_most]
    if numbered:
        lines = [f"{number}: {line}" for number, line in enumerate(lines, excerpt.start_line)]
    return schemas.Text.model_validate({**part, "text": "".join(lines)})


def _head(said: schemas.Text) -> str:
    return f"{said.file} ({said.docid}), from line {said.start_line} of {said.total_lines}: {_title(said)}"


def _title(said: schemas.Text | schemas.Moment | schemas.Listed) -> str:
    newer, title = said.superseded_by, title_to_read(said.title, said.origin)
    if newer is None:
        return title
    return marked(title, Successor(file=newer.file, authored_at=newer.authored_at))


def _resource(said: schemas.Text) -> EmbeddedResource:
    from urllib.parse import quote

    text = "\n".join(lines_to_read(said.text, said.origin))
    contents = TextResourceContents(uri=f"clawmem://{quote(said.file)}", mime_type="text/markdown", text=text)
    return EmbeddedResource(type="resource", resource=contents)
