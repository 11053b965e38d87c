"""The server that assistants start: mcp."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from clawmem.app.cli.session import one_of
from clawmem.app.mcp.handing_on import handed_on
from clawmem.app.mcp.sets import TOOLS_VARIABLE, ToolSet

if TYPE_CHECKING:
    from clawmem.app.serve.desk import Desk

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
    alone: Annotated[bool, typer.Option("--alone", help="Ask no server, even if one runs.")] = False,
) -> None:
    """
    Speak the Model Context Protocol on standard input and output; an assistant starts this. See clawmem setup mcp.

    While clawmem serve runs it hands everything on to it; else it does the work itself.
    """
    name = tools or os.environ.get(TOOLS_VARIABLE) or ToolSet.CLAWMEM
    chosen = ToolSet(one_of("--tools", name, tuple(ToolSet)))
    vault = ctx.obj.vault.expanduser() if ctx.obj.vault else None
    if alone or ctx.obj.backend or not handed_on(vault, chosen):
        _answered_here(ctx, chosen)


def _answered_here(ctx: typer.Context, chosen: ToolSet) -> None:
    from clawmem.app.mcp.lines import Lines

    lines = Lines()  # before anything is imported that might print
    from clawmem.app.mcp.server import make_server
    from clawmem.app.mcp.stdio import run

    run(make_server(_desk(ctx), chosen), lines)
    # What is still at work was waited for long enough; whatever it writes is written whole or not at all.
    os._exit(0)


def _desk(ctx: typer.Context) -> Desk:
    from clawmem.app.cli.session import settings_of
    from clawmem.app.serve.desk import Desk

    settings_of(ctx)  # what is wrong with them is said before anybody asks
    return Desk(lambda: settings_of(ctx))
