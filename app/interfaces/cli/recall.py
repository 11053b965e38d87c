"""Questions beyond plain search: timeline, sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from clawmem.app.interfaces.cli.addresses import Note
from clawmem.app.interfaces.cli.session import tell, wants_json

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.interfaces.cli.rendering import Said

cli = typer.Typer(rich_markup_mode=None)

AsOf = Annotated[
    str, typer.Option("--as-of", help="As of this day: nothing later is known, and ages count from it.")
]
HowMany = Annotated[int, typer.Option("-n", "--num", "--limit", "--last", help="How many.")]


@cli.command()
def timeline(
    ctx: typer.Context,
    name: Note,
    before: Annotated[int, typer.Option(help="How many that were written before it, 1 to 20.")] = 5,
    after: Annotated[int, typer.Option(help="How many that were written after it, 1 to 20.")] = 5,
    same_collection: Annotated[
        bool, typer.Option("--same-collection", help="Only of its collection.")
    ] = False,
    as_of: AsOf = "",
) -> None:
    """List the notes written just before and after a note."""

    def say(services: Services) -> Said:
        from clawmem.app.interfaces.cli.history import timeline_parts
        from clawmem.app.interfaces.cli.rendering import Said, json_part
        from clawmem.app.records.documents import order_of

        document = services.lookup.find(name)
        found = services.timeline(
            document, before=before, after=after, same_collection=same_collection, as_of=as_of
        )
        return Said([json_part(order_of(found))] if wants_json(ctx) else timeline_parts(found))

    tell(ctx, say)


@cli.command()
def sessions(ctx: typer.Context, limit: HowMany = 10, as_of: AsOf = "") -> None:
    """List the latest sessions and their results."""

    def say(services: Services) -> Said:
        from clawmem.app.interfaces.cli.history import sessions_part
        from clawmem.app.interfaces.cli.rendering import Said, json_part
        from clawmem.app.services.documents.sessions import latest_sessions
        from clawmem.app.services.retrieval.request import first_after
        from clawmem.ports.errors import InvalidInput

        if limit < 1:
            raise InvalidInput("OUT_OF_BOUNDS", f"{limit} sessions cannot be shown; choose 1 or more.")
        found = latest_sessions(services.vault.sessions, limit, first_after(as_of))
        return Said([json_part(found) if wants_json(ctx) else sessions_part(found)])

    tell(ctx, say)


cli.command("log")(sessions)
