"""Tool sets of MCP servers, and the rules of a connection on standard input."""

from __future__ import annotations

from enum import StrEnum

TOOLS_VARIABLE = "CLAWMEM_MCP_TOOLS"
IN_ORDER_S = 10.0  # for which a call waits for the earlier one of its connection, so that it sees its changes
DRAIN_S = 10.0  # for running requests at the end of input
LONG_LIVED = "subscriptions/listen"  # never ends on its own, so its end is not awaited


class ToolSet(StrEnum):
    """Tool sets; each is a server of its own, because names and conventions of the others are not those of clawmem."""

    CLAWMEM = "clawmem"  # what an agent needs daily
    ALL = "all"  # every tool
    FILES = "files"  # a folder of text files


def path_of(chosen: ToolSet) -> str:
    """Return the path of a tool set at a running server."""
    return "/mcp" if chosen is ToolSet.CLAWMEM else f"/mcp/{chosen}"
