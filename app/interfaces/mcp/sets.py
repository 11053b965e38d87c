"""Which tools a server offers. Looked at before anything heavy is imported."""

from __future__ import annotations

from enum import StrEnum

TOOLS_VARIABLE = "CLAWMEM_MCP_TOOLS"
FILES_VARIABLE = "CLAWMEM_MCP_FILES"
"""Names the collection whose folder the set `ToolSet.FILES` changes."""


class ToolSet(StrEnum):
    """A server each: their names and their manners are not clawmem's, and are not mixed with it."""

    CLAWMEM = "clawmem"
    MEMORY = "memory"  # the knowledge graph of the reference server
    FILES = "files"  # a folder of text files


def path_of(chosen: ToolSet) -> str:
    """Where a running server offers a set."""
    return "/mcp" if chosen is ToolSet.CLAWMEM else f"/mcp/{chosen}"
