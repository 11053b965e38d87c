"""The server that assistants start: mcp."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from clawmem.app.cli.session import one_of
from clawmem.app.mcp.handing_on import handed_on
from clawmem.app.mcp.sets import TOOLS_VARIABLE, ToolSet

if TYPE_CHECKING:
    from clawmem.app.serve.desk import Desk
    from clawmem.app.serve.lanes import LaneThread

SHORT_LIVED = (
    "clawmem mcp ends with its session: the heavy lane may never see its quiet hours here. "
    "Let clawmem serve or clawmem watch work in it."
)

cli = typer.Typer(rich_markup_mode=None)


@cli.callback()
def _verbs() -> None:
    """One verb, and still a group: the command line loads verbs by their names."""


@cli.command()
def mcp(
    ctx: typer.Context,
    tools: Annotated[
        str | None,
        typer.Option(help="clawmem, memory or files; by default CLAWMEM_MCP_TOOLS.", show_default=False),
    ] = None,
) -> None:
    """
    Speak the Model Context Protocol on standard input and output; an assistant starts this. See clawmem setup mcp.

    While clawmem serve runs it hands everything on to it; else it does the work itself.
    """
    name = tools or os.environ.get(TOOLS_VARIABLE) or ToolSet.CLAWMEM
    chosen = ToolSet(one_of("--tools", name, tuple(ToolSet)))
    vault = ctx.obj.vault.expanduser() if ctx.obj.vault else None
    if ctx.obj.alone or ctx.obj.backend or not handed_on(vault, chosen):
        _answered_here(ctx, chosen)


def _answered_here(ctx: typer.Context, chosen: ToolSet) -> None:
    from clawmem.app.mcp.lines import Lines

    lines = Lines()  # before anything is imported that might print
    from clawmem.app.mcp.server import make_server
    from clawmem.app.mcp.stdio import run
    from clawmem.app.serve.lanes import at_work

    with at_work(_lanes(ctx)):
        run(make_server(_desk(ctx), chosen), lines)
    # What is still at work was waited for long enough; whatever it writes is written whole or not at all.
    os._exit(0)


def _lanes(ctx: typer.Context) -> list[LaneThread]:
    """Those that the settings turn on; who hosts the heavy one here is told once that it may never have its hours."""
    from clawmem.app.cli.session import settings_of
    from clawmem.app.hooks.runner import log_error
    from clawmem.app.serve.lanes import lane_threads
    from clawmem.domain.maintenance.schedule import LaneName

    settings = settings_of(ctx)

    def complain(error: BaseException) -> None:
        with suppress(OSError):
            log_error(settings.vault, "lanes", error)

    threads = lane_threads(settings, complain)
    if any(one.name is LaneName.HEAVY for one in threads):
        typer.echo(SHORT_LIVED, err=True)
    return threads


def _desk(ctx: typer.Context) -> Desk:
    from clawmem.app.cli.session import settings_of
    from clawmem.app.serve.desk import Desk

    settings_of(ctx)  # what is wrong with them is said before anybody asks
    return Desk(lambda: settings_of(ctx))
