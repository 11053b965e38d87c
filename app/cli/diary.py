"""A diary: diary write, read."""

from __future__ import annotations

from typing import Annotated

import typer

from clawmem.app.cli.command_line import Verbs
from clawmem.app.cli.session import opened, wants_json

cli = typer.Typer(rich_markup_mode=None)
diary = typer.Typer(cls=Verbs, rich_markup_mode=None, help="A diary in the vault: write, read.")
cli.add_typer(diary, name="diary")

USER = "user"


@cli.callback()
def _verbs() -> None:
    """One verb, and still a group: the command line loads verbs by their names."""


@diary.command()
def write(
    ctx: typer.Context,
    text: Annotated[list[str], typer.Argument(metavar="TEXT...", help="The entry.")],
    topic: Annotated[str, typer.Option("-t", "--topic", help="What it is about.")] = "general",
    agent: Annotated[str, typer.Option("-a", "--agent", help="Who writes.")] = USER,
) -> None:
    """Add an entry; it can be searched like any note."""
    from clawmem.app.cli.rendering import show, show_json
    from clawmem.app.records.diary import written_of

    with opened(ctx) as services:
        written = services.diary.write(" ".join(text), topic, agent)
    if wants_json(ctx):
        show_json(written_of(written))
    else:
        show(f"Written: {written.display_path}")


@diary.command()
def read(
    ctx: typer.Context,
    limit: Annotated[int, typer.Option("-n", "--limit", help="How many.")] = 10,
    agent: Annotated[str, typer.Option("-a", "--agent", help="Only of this writer.")] = "",
) -> None:
    """The last entries, newest first."""
    from clawmem.app.cli.rendering import show, show_json
    from clawmem.app.records.diary import entry_of

    with opened(ctx, read_only=True) as services:
        entries = services.diary.read(limit, agent)
    if wants_json(ctx):
        show_json([entry_of(one) for one in entries])
        return
    for one in entries:
        show(f"{one.document.modified_at[:16].replace('T', ' ')}  {one.document.domain}: {one.text}\n")
    if not entries:
        show("The diary is empty.")
