"""Documents by address: list, get, multi-get."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from clawmem.app.interfaces.cli.addresses import Note
from clawmem.app.interfaces.cli.session import Collections, named_collections, tell, wants_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clawmem.app.bootstrap.services import Services
    from clawmem.app.interfaces.cli.rendering import Said
    from clawmem.app.operations.output import Part
    from clawmem.app.records.documents import Listed
    from clawmem.app.services.documents.lookup import Excerpt, LookupFailure
    from clawmem.ports.errors import InvalidInput

cli = typer.Typer(rich_markup_mode=None)

HOW_MANY = "How many."


@cli.command("list")
def list_latest(
    ctx: typer.Context,
    limit: Annotated[int, typer.Option("-n", "--num", "--limit", min=1, help=HOW_MANY)] = 10,
    collection: Collections = None,
) -> None:
    """List the notes that were written last."""

    def say(services: Services) -> Said:
        from clawmem.app.interfaces.cli.rendering import Said, json_part
        from clawmem.app.records.documents import latest

        rows = latest(services, named_collections(services, collection), limit)
        return Said([json_part(rows) if wants_json(ctx) else _list_part(rows)])

    tell(ctx, say)


@cli.command()
def get(
    ctx: typer.Context,
    name: Note,
    first: Annotated[int | None, typer.Option("--from", min=1, help="Begin with this line.")] = None,
    lines: Annotated[int | None, typer.Option("--lines", min=1, help="At most so many lines.")] = None,
) -> None:
    """Show the text of one document."""

    def say(services: Services) -> Said:
        from clawmem.app.interfaces.cli.rendering import Said, json_part, verbatim
        from clawmem.app.records.documents import part_of
        from clawmem.app.services.documents.succession import succession_mark
        from clawmem.domain.security.quoting import label_of_others

        excerpt = services.lookup.get(name, from_line=first, max_lines=lines)
        if not wants_json(ctx):
            marks = filter(
                None, (label_of_others(excerpt.document.origin), succession_mark(excerpt.superseded_by))
            )
            asides = [f"{excerpt.document.display_path} is {mark}." for mark in marks]
            return Said([verbatim(excerpt.text)], asides=asides)
        return Said([json_part({**part_of(excerpt), **_known_of(services, excerpt.document.id)})])

    tell(ctx, say)


@cli.command("multi-get")
def multi_get(
    ctx: typer.Context,
    pattern: Annotated[str, typer.Argument(help="A glob such as 'notes/**/*.md', or addresses with commas.")],
    max_bytes: Annotated[int, typer.Option(min=1, help="Leave larger documents out.")] = 10240,
) -> None:
    """
    Show the texts of several documents.

    Names that match no document are reported. The exit code is 3 when no name matches.

    Names that fit nothing are reported. The exit code is 3 when nothing fits at all.
    """

    def say(services: Services) -> Said:
        from clawmem.app.interfaces.cli.rendering import Said, json_part
        from clawmem.app.records.documents import part_of
        from clawmem.app.services.documents.lookup import TOO_LARGE

        found = services.lookup.multi_get(pattern, max_bytes=max_bytes)
        if not found.excerpts and all(one.code != TOO_LARGE for one in found.errors):
            raise _nothing_found(pattern, found.errors)
        if not wants_json(ctx):
            return Said([*map(_text_part, found.excerpts)], asides=[*map(str, found.errors)])
        return Said([json_part({"documents": [*map(part_of, found.excerpts)], "errors": found.errors})])

    tell(ctx, say)


def _nothing_found(pattern: str, missed: Sequence[LookupFailure]) -> InvalidInput:
    from clawmem.ports.errors import NotFound

    error = NotFound("document", pattern, suggestions=[name for one in missed for name in one.suggestions])
    if missed:
        error.args = (" ".join(map(str, missed)),)
    return error


def _known_of(services: Services, document_id: int) -> dict[str, Any]:
    """Return the note about a document and the entities that it mentions; nothing if it was not enriched yet."""
    note = services.vault.notes.get(document_id)
    if note is None:
        return {}
    parts = ("keywords", "tags", "context", "origin", "written_at", "version")
    mentioned = services.vault.entities.mentions(document_id)
    return {
        "note": {name: getattr(note, name) for name in parts},
        "entities": [{"name": one.name, "type": one.kind} for one in mentioned],
    }


def _list_part(rows: Sequence[Listed]) -> Part:
    from clawmem.app.operations.output import table

    if not rows:
        return "No documents yet. Run: clawmem update"
    from clawmem.app.records.succession import marked
    from clawmem.domain.security.quoting import title_to_read

    cells = [
        (
            one["docid"],
            one["authored_at"][:10],
            one["type"],
            one["file"],
            marked(title_to_read(one["title"], one["origin"]), one["superseded_by"]),
        )
        for one in rows
    ]
    return table(("docid", "written", "type", "file", "title"), cells)


def _text_part(excerpt: Excerpt) -> Part:
    from clawmem.app.interfaces.cli.rendering import verbatim
    from clawmem.app.services.documents.succession import succession_mark
    from clawmem.domain.security.quoting import label_of_others

    place = f"{excerpt.document.display_path} (#{excerpt.docid})"
    marks = (place, label_of_others(excerpt.document.origin), succession_mark(excerpt.superseded_by))
    head = ", ".join(filter(None, marks))
    return verbatim(f"==> {head} <==\n{excerpt.text}\n")
