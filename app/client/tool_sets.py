"""Tool sets of MCP servers."""

from __future__ import annotations

from enum import StrEnum

TOOLS_VARIABLE = "CLAWMEM_MCP_TOOLS"


class ToolSet(StrEnum):
    """Tool sets; each is a server of its own, because names and conventions of the others are not those of clawmem."""

    CLAWMEM = "clawmem"  # what an agent needs daily
    ALL = "all"  # every tool
    FILES = "files"  # a folder of text files


def path_of(chosen: ToolSet) -> str:
    """Return the path of a tool set at a running server."""
    return "/mcp" if chosen is ToolSet.CLAWMEM else f"/mcp/{chosen}"
