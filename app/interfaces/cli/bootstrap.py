"""The first command: bootstrap."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clawmem.app.bootstrap.opening import open_services, unopened_services
from clawmem.app.interfaces.cli.rendering import progress
from clawmem.app.interfaces.cli.session import (
    run_confirmed,
    settings_of,
    show_outcome,
)
from clawmem.app.operations.collections import collection_add
from clawmem.app.operations.indexing import reading_text, update
from clawmem.app.operations.operation import exit_code_of, remarks_of
from clawmem.app.settings.config_file import existing_folder, typed_folder

cli = typer.Typer(rich_markup_mode=None)


@cli.command()
def bootstrap(
    ctx: typer.Context,
    path: Annotated[Path, typer.Argument(help="A folder of Markdown.", metavar="PATH", parser=typed_folder)],
    name: Annotated[
        str | None, typer.Option(help="Its name; made from the folder's otherwise.", show_default=False)
    ] = None,
    skip_embed: Annotated[bool, typer.Option("--skip-embed", help="Make no vectors.")] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Read the home folder, or one that contains it, without asking.")
    ] = False,
) -> None:
    """
    Add and index a folder in one step. Safe to repeat.

    Runs init, collection add, update and embed.
    """
    collection = _added(ctx, path, name, yes=yes)
    with open_services(settings_of(ctx), create=True) as services:
        result = update(services.called_by("cli", progress), embed=not skip_embed)
        documents = services.vault.documents.collections().get(collection, 0)
    lines = [*reading_text(result), *remarks_of(result)]
    if not documents:
        lines.append(
            f"Nothing was indexed: no readable file of collection {collection} matches its pattern. Check the folder, or run: "
            f"clawmem collection remove {collection}, then clawmem collection add PATH --pattern 'GLOB'"
        )
    elif not exit_code_of(result):
        lines.append('Ready. Next: clawmem query "what you want to know"')
    record = {"name": collection, **result.model_dump(mode="json")}
    show_outcome(ctx, record, "\n".join(lines))
    raise typer.Exit(exit_code_of(result) or int(not documents))


def _added(ctx: typer.Context, path: Path, name: str | None, *, yes: bool) -> str:
    """Return the collection of the folder *path*; add it to the config file if it is new."""
    settings, folder = settings_of(ctx), existing_folder(path)
    for known, collection in settings.collections.items():
        if collection.path.resolve() == folder and name in (None, known):
            return known
    request = collection_add.request.model_validate({"path": folder, "name": name})
    services = unopened_services(settings)
    result = run_confirmed(ctx, lambda request: collection_add.run(services, request), request, agreed=yes)
    for remark in remarks_of(result):
        typer.echo(remark, err=True)
    return result.name
