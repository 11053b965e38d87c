"""Forwarding of ``clawmem mcp`` to a running server, without importing the MCP library."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from clawmem.app.client.tool_sets import TOOLS_VARIABLE, ToolSet
from clawmem.app.environment.places import FILES_VARIABLE, default_vault
from clawmem.app.version import VERSION

if TYPE_CHECKING:
    from clawmem.app.client.announcement import Announcement


def forwarded_at_once(arguments: Sequence[str]) -> bool:
    """
    Forward the session to a running server; return whether the command line was valid and a server was found.

    Other command lines are left to the command, which reports their errors.
    """
    given = dict(zip(arguments[::2], arguments[1::2], strict=False))
    is_empty = not given.get("--vault", "usual").strip()
    if len(arguments) % 2 or given.keys() - {"--vault", "--tools"} or is_empty:
        return False
    tools = given.get("--tools") or os.environ.get(TOOLS_VARIABLE) or ToolSet.CLAWMEM
    if tools not in tuple(ToolSet):
        return False
    vault = given.get("--vault")
    return forwarded(Path(vault).expanduser() if vault else None, ToolSet(tools))


def forwarded(named: Path | None, tools: ToolSet) -> bool:
    """Forward the session to a server of the vault *named*, by default the usual one; return whether there is one."""
    if os.environ.get(FILES_VARIABLE):  # a running server uses its own variable
        return False
    from clawmem.app.client.autostart import answers
    from clawmem.app.interfaces.mcp.bridge import Bridge, server_of

    vault = named or default_vault(os.environ)
    environ = {**os.environ, "INDEX_PATH": str(vault)}
    server = server_of(vault, environ, VERSION)
    if server is None or not answers(server):  # a server that hangs would block the assistant
        return False
    from clawmem.app.client.autostart import found_or_started
    from clawmem.app.interfaces.mcp.lines import Lines

    def find() -> Announcement | None:
        return found_or_started(lambda: server_of(vault, environ, VERSION), environ)

    Bridge(find, vault, environ, tools).run(Lines())
    return True
