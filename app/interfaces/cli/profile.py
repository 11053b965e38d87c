"""The profile page: profile, profile rebuild."""

from __future__ import annotations

from typing import Annotated

import typer

from clawmem.app.interfaces.cli.session import one_of, opened, wants_json

cli = typer.Typer(rich_markup_mode=None)

SHOW, REBUILD = "show", "rebuild"


@cli.callback()
def _verbs() -> None:
    """Make the command line a group even with one command."""


@cli.command()
def profile(
    ctx: typer.Context,
    action: Annotated[str, typer.Argument(metavar="[show|rebuild]", help="Or make it anew first.")] = SHOW,
) -> None:
    """
    Show the profile of the user; rebuild it when it is old.

    It is built from decisions, hubs and sessions.
    """
    from clawmem.app.interfaces.cli.rendering import show, show_json
    from clawmem.app.services.briefing.profile import PATH
    from clawmem.domain.capture.notes import COLLECTION

    rebuild = one_of("The action", action, (SHOW, REBUILD)) == REBUILD
    with opened(ctx) as services:
        made = services.profile.rebuild() if rebuild else services.profile.refresh()
        page = services.vault.documents.at(COLLECTION, PATH)
        there = page is not None and page.inactive is None
        body = services.vault.documents.body(page.id) if page is not None and there else None
    if wants_json(ctx):
        show_json({"path": f"{COLLECTION}/{PATH}" if there else None, "body": body, "rebuilt": made})
    else:
        show(body.rstrip() if body else "There is nothing to say yet: no decisions, hubs or sessions.")
