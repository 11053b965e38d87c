"""Tool sets of MCP servers."""

from __future__ import annotations

from enum import StrEnum

TOOLS_VARIABLE = "CLAWMEM_MCP_TOOLS"

# Tools whose changes the later requests of the same connection see, also if it sends them without waiting for the answer.
WRITING_TOOLS = frozenset(
    "beads_sync build_graphs diary_write embed lifecycle_restore lifecycle_sweep memory memory_forget memory_pin "
    "memory_remember memory_snooze profile reindex vault_sync".split()
)
IN_ORDER_S = (
    10.0  # that a request waits for earlier changes; embedding or reading a large folder takes longer
)


class ToolSet(StrEnum):
    """Tool sets; each is a server of its own, because names and conventions of the others are not those of clawmem."""

    CLAWMEM = "clawmem"
    FILES = "files"  # a folder of text files


def path_of(chosen: ToolSet) -> str:
    """Return the path of a tool set at a running server."""
    return "/mcp" if chosen is ToolSet.CLAWMEM else f"/mcp/{chosen}"
