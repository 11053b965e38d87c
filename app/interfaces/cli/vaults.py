"""Named vaults: vault list, vault sync."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clawmem.app.config_file import typed_folder
from clawmem.app.interfaces.cli.collections import AllowEmpty, embed_line, run_embed, show_lag, update_line
from clawmem.app.interfaces.cli.command_line import Verbs
from clawmem.app.interfaces.cli.session import kept_up, settings_of, wants_json
from clawmem.app.places import is_there

cli = typer.Typer(rich_markup_mode=None)
vault = typer.Typer(
    cls=Verbs, rich_markup_mode=None, help="Further vaults, by the names that they were given."
)
cli.add_typer(vault, name="vault")


@vault.command("list")
def list_all(ctx: typer.Context) -> None:
    """List the named vaults with their files; opens none."""
    from clawmem.app.interfaces.cli.rendering import show, show_json, show_table

    vaults = settings_of(ctx).vaults
    rows = [{"name": name, "path": path, "exists": is_there(path)} for name, path in vaults.items()]
    if wants_json(ctx):
        show_json(rows)
    elif not rows:
        show("No vault has a name. Make one: clawmem vault sync NAME FOLDER")
    else:
        show_table(("name", "path", "exists"), [tuple(row.values()) for row in rows])


@vault.command("sync")
def sync(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="Which vault; made when it is not there.")],
    folder: Annotated[Path, typer.Argument(help="A folder of Markdown.", parser=typed_folder)],
    collection: Annotated[
        str | None,
        typer.Option("--collection", help="Its collection; called as the vault, else.", show_default=False),
    ] = None,
    pattern: Annotated[str, typer.Option(help="Which files below it are read.")] = "**/*.md",
    embed: Annotated[bool, typer.Option("--embed", help="Then make the vectors that are missing.")] = False,
    allow_empty: AllowEmpty = False,
) -> None:
    """
    Read a folder into a named vault; create a missing vault.

    A new vault is a file next to the usual vault, and its name is written to the config file. A collection has one
    folder: its documents of any other folder are removed.
    """
    from clawmem.app.bootstrap.opening import open_services
    from clawmem.app.config_file import add_vault
    from clawmem.app.interfaces.cli.progress import progress
    from clawmem.app.interfaces.cli.rendering import show, show_json
    from clawmem.app.services.indexing.syncing import admitted
    from clawmem.app.vaults import new_vault, of_vault

    usual = settings = settings_of(ctx)
    place = str(folder.expanduser().absolute())
    file = None if name in settings.vaults else new_vault(settings, name)
    admitted(place, usual.home, own=usual.own_files)  # checked before a vault is created
    if file:
        add_vault(settings.config_file, name, file)
        settings = settings_of(ctx)
    settings = of_vault(settings, name)
    with open_services(settings) as services:
        with progress(f"Reading {place}") as step:
            report = services.sync(place, collection or name, pattern, allow_empty=allow_empty, progress=step)
        embedded = run_embed(services) if embed else None
        lag = kept_up(services)
    if wants_json(ctx):
        show_json({"vault": name, "made": file, "read": report, "embed": embedded})
    else:
        if file:
            show(f"Made the vault {name} in {file}; its name is in {settings.config_file}.")
        show(
            "\n".join([update_line(report), *report.problems, *([embed_line(embedded)] if embedded else [])])
        )
    show_lag(lag)
