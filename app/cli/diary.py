"""A diary: diary write, read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from clawmem.app.cli.command_line import Verbs
from clawmem.app.cli.session import opened, tell, wants_json

if TYPE_CHECKING:
    from clawmem.app.cli.rendering import Said
    from clawmem.app.opened import Services
    from clawmem.app.services.capture.diary import DiaryEntry

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

    def say(services: Services) -> Said:
        from clawmem.app.cli.rendering import Said, json_part, printable
        from clawmem.app.records.diary import entry_of

        entries = services.diary.read(limit, agent)
        if wants_json(ctx):
            return Said([json_part([entry_of(one) for one in entries])])
        return Said([*map(printable, map(_entry_text, entries))] or ["The diary is empty."])

    tell(ctx, say)


def _entry_text(entry: DiaryEntry) -> str:
    document = entry.document
    return f"{document.authored_at[:16].replace('T', ' ')}  {document.domain}: {entry.text}\n"
