"""The page of the memory in a browser: ui."""

from __future__ import annotations

import json
import os
import webbrowser
from typing import Annotated

import typer

from clawmem.app.bootstrap.opening import require_vault
from clawmem.app.client.autostart import started_server
from clawmem.app.client.request import posted, token_of
from clawmem.app.interfaces.cli.session import settings_of_usual, show_outcome
from clawmem.ports.errors import ClawmemError

cli = typer.Typer(rich_markup_mode=None)


@cli.command()
def ui(
    ctx: typer.Context,
    print_only: Annotated[
        bool, typer.Option("--print", help="Only print the address, for a browser that you open.")
    ] = False,
) -> None:
    """
    Open the page of the memory in a browser: search, notes, and what prompts received.

    The address works once, within two minutes; the browser keeps the session. A server is started if none runs.
    """
    settings = settings_of_usual(ctx, "ui")
    require_vault(settings)
    vault = settings.vault
    server = started_server(vault, [], os.environ)
    answer = posted(server, "/ui-address", token_of(vault, os.environ), b"{}", first_s=1.0, answer_s=10.0)
    if not answer:
        raise ClawmemError(f"The server at {server.url} refuses this. Restart it: clawmem serve --stop")
    url = server.url + json.loads(answer)["path"]
    is_opened = not print_only and webbrowser.open(url)
    show_outcome(ctx, {"url": url, "opened": is_opened}, url)
