"""The MCP server that assistants start: mcp."""

from __future__ import annotations

import os
from functools import partial
from typing import Annotated

import typer

from clawmem.app.client.request import TOOLS_VARIABLE, ToolSet
from clawmem.app.environment.private_files import log_error
from clawmem.app.interfaces.cli.session import one_of, settings_of
from clawmem.app.interfaces.mcp.proxy import forwarded
from clawmem.domain.maintenance.schedule import LaneName

cli = typer.Typer(rich_markup_mode=None)


@cli.command()
def mcp(
    ctx: typer.Context,
    tools: Annotated[
        str | None,
        typer.Option(
            help="clawmem (ten tools), all, or files; by default CLAWMEM_MCP_TOOLS.", show_default=False
        ),
    ] = None,
) -> None:
    """
    Run the MCP server on stdin and stdout; an assistant starts it.

    While clawmem serve runs, every request is forwarded to it. See clawmem setup mcp.
    """
    name = tools or os.environ.get(TOOLS_VARIABLE) or ToolSet.CLAWMEM
    chosen = ToolSet(one_of("--tools", name, tuple(ToolSet)))
    vault = ctx.obj.vault.expanduser() if ctx.obj.vault else None
    if not (ctx.obj.alone or ctx.obj.backend) and forwarded(vault, chosen):
        return
    from clawmem.app.interfaces.mcp.server import MemoryServer
    from clawmem.app.operations.dispatch import Dispatcher
    from clawmem.app.serve.background import at_work, lane_threads

    settings = settings_of(ctx)  # errors in the settings are reported before the first request
    lanes = lane_threads(settings, partial(log_error, settings.vault))
    if any(lane.name == LaneName.HEAVY for lane in lanes):
        typer.echo(
            "clawmem mcp ends with its session, perhaps before the quiet hours of the heavy lane. "
            "Let clawmem serve or clawmem watch work in it.",
            err=True,
        )
    with at_work(lanes):
        MemoryServer(Dispatcher(lambda: settings_of(ctx)), chosen).run("stdio")
    # Threads may still work for cancelled requests. Ending now is safe, because every write is atomic.
    os._exit(0)
