"""The page about who works here: profile, profile rebuild."""

from __future__ import annotations

from typing import Annotated

import typer

from clawmem.app.cli.session import one_of, opened, wants_json

cli = typer.Typer(rich_markup_mode=None)

SHOW, REBUILD = "show", "rebuild"


@cli.callback()
def _verbs() -> None:
    """One verb, and still a group: the command line loads verbs by their names."""


@cli.command()
def profile(
    ctx: typer.Context,
    action: Annotated[str, typer.Argument(metavar="[show|rebuild]", help="Or make it anew first.")] = SHOW,
) -> None:
    """What holds and what went on lately, made from decisions, hubs and sessions; made anew when it is old."""
    from clawmem.app.cli.rendering import show, show_json
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
