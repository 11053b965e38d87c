"""The quick way of ``clawmem mcp``: to the server that has the vault open, before anything is imported for it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from clawmem.app.interfaces.mcp.sets import FILES_VARIABLE, TOOLS_VARIABLE, ToolSet
from clawmem.app.places import default_vault
from clawmem.app.version import VERSION


def quickly_handed_on(arguments: Sequence[str]) -> bool:
    """
    Whether the command line after ``mcp`` was of a usual form, and a server did it all.

    Anything else is for the command itself, which also knows what is wrong with it.
    """
    given = dict(zip(arguments[::2], arguments[1::2], strict=False))
    is_empty = not given.get("--vault", "usual").strip()
    if len(arguments) % 2 or given.keys() - {"--vault", "--tools"} or is_empty:
        return False
    tools = given.get("--tools") or os.environ.get(TOOLS_VARIABLE) or ToolSet.CLAWMEM
    if tools not in tuple(ToolSet):
        return False
    vault = given.get("--vault")
    return handed_on(Path(vault).expanduser() if vault else None, ToolSet(tools))


def handed_on(named: Path | None, tools: ToolSet) -> bool:
    """Whether a server of the vault was there, and did it all. Without *named* it is the usual vault."""
    if os.environ.get(FILES_VARIABLE):  # a server has its own
        return False
    from clawmem.app.client.probe import answers
    from clawmem.app.interfaces.mcp.bridge import Bridge, server_of

    vault = named or default_vault(os.environ)
    environ = {**os.environ, "INDEX_PATH": str(vault)}
    server = server_of(vault, environ, VERSION)
    if server is None or not answers(
        server
    ):  # what hangs would keep the assistant waiting for its first word
        return False
    from clawmem.app.interfaces.mcp.lines import Lines

    Bridge(lambda: server_of(vault, environ, VERSION), vault, environ, tools).run(Lines())
    return True
