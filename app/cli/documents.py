"""Documents by name: list, get, multi-get."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from clawmem.app.cli.session import Collections, named_collections, opened, wants_json

if TYPE_CHECKING:
    from clawmem.app.opened import Services

cli = typer.Typer(rich_markup_mode=None)

HOW_MANY = "How many."


@cli.command("list")
def list_latest(
    ctx: typer.Context,
    limit: Annotated[int, typer.Option("-n", "--num", "--limit", min=1, help=HOW_MANY)] = 10,
    collection: Collections = None,
) -> None:
    """The documents that were changed last."""
    from clawmem.app.cli.rendering import show, show_json, show_table
    from clawmem.app.records.documents import latest

    with opened(ctx, read_only=True) as services:
        rows = latest(services, named_collections(services, collection), limit)
    if wants_json(ctx):
        show_json(rows)
    elif not rows:
        show("No documents yet. Run: clawmem update")
    else:
        short: list[dict[str, Any]] = [{**row, "modified": row["modified"][:10]} for row in rows]
        show_table(tuple(rows[0]), [tuple(row.values()) for row in short])


@cli.command()
def get(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="A path, collection/path, clawmem:// address or #docid.")],
    first: Annotated[int | None, typer.Option("--from", min=1, help="Begin with this line.")] = None,
    lines: Annotated[int | None, typer.Option("--lines", min=1, help="At most so many lines.")] = None,
) -> None:
    """The text of one document."""
    from clawmem.app.cli.rendering import show_json
    from clawmem.app.records.documents import part_of

    with opened(ctx, read_only=True) as services:
        excerpt = services.lookup.get(name, from_line=first, max_lines=lines)
        known = _known_of(services, excerpt.document.id) if wants_json(ctx) else {}
    if wants_json(ctx):
        show_json({**part_of(excerpt), **known})
    else:
        _show_text(excerpt.text)


@cli.command("multi-get")
def multi_get(
    ctx: typer.Context,
    pattern: Annotated[str, typer.Argument(help="A glob such as 'notes/**/*.md', or names with commas.")],
    max_bytes: Annotated[int, typer.Option(min=1, help="Leave larger documents out.")] = 10240,
) -> None:
    """The texts of several documents."""
    from clawmem.app.cli.rendering import show_json
    from clawmem.app.records.documents import part_of

    with opened(ctx, read_only=True) as services:
        found = services.lookup.multi_get(pattern, max_bytes=max_bytes)
    if wants_json(ctx):
        show_json({"documents": [part_of(e) for e in found.excerpts], "errors": found.errors})
        return
    for excerpt in found.excerpts:
        _show_text(f"==> {excerpt.document.display_path} (#{excerpt.docid}) <==\n{excerpt.text}\n")
    for error in found.errors:
        typer.echo(f"clawmem: {error}", err=True)


def _known_of(services: Services, document_id: int) -> dict[str, Any]:
    """The note about a document and what it mentions; nothing where it was not enriched yet."""
    note = services.vault.notes.get(document_id)
    if note is None:
        return {}
    parts = ("keywords", "tags", "context", "origin", "written_at", "version")
    mentioned = services.vault.entities.mentions(document_id)
    return {
        "note": {name: getattr(note, name) for name in parts},
        "entities": [{"name": one.name, "type": one.kind} for one in mentioned],
    }


def _show_text(text: str) -> None:
    """A pipe gets the text as it is; a terminal gets nothing that could drive it."""
    import sys

    from clawmem.app.cli.rendering import printable

    typer.echo(printable(text) if sys.stdout.isatty() else text.encode("utf-8", "replace"))
