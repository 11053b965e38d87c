"""The MCP server with its tools, for standard input and output and for HTTP."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Annotated, Any

from mcp.types import CallToolResult, ToolAnnotations
from pydantic import BaseModel

from clawmem.app.client.tool_sets import ToolSet
from clawmem.app.interfaces.mcp.calling import ToolServer, answer
from clawmem.app.interfaces.mcp.instructions import (
    FILES_INSTRUCTIONS,
    GUIDE,
    INSTRUCTIONS,
    MEMORY_INSTRUCTIONS,
)
from clawmem.app.interfaces.mcp.memory_tools import MemoryTools
from clawmem.app.interfaces.mcp.operations import add_operation
from clawmem.app.interfaces.mcp.resources import add_prompts, add_resources
from clawmem.app.operations.dispatch import Dispatcher
from clawmem.app.operations.table import all_operations, operations_in

Tool = Callable[..., Any]

READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
REPEATABLE = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
DESTROYS = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
)


class Guide(BaseModel):
    """A guide to the tools."""

    guide: str


async def guide() -> Annotated[CallToolResult, Guide]:
    """Guide to the tools. Read this before you look anything up."""
    return answer(GUIDE, Guide(guide=GUIDE))


def make_server(dispatcher: Dispatcher, chosen: ToolSet = ToolSet.CLAWMEM) -> ToolServer:
    """Return a server with the tools of one set."""
    logging.getLogger("mcp").setLevel(logging.ERROR)  # errors are reported to the client
    return {ToolSet.CLAWMEM: _clawmem, ToolSet.MEMORY: _memory, ToolSet.FILES: _files}[chosen](dispatcher)


def _clawmem(dispatcher: Dispatcher) -> ToolServer:
    server = ToolServer("clawmem", "Memory", INSTRUCTIONS)
    _add(server, READS, guide, name="__IMPORTANT")
    for operation in all_operations():
        if operation.is_tool:
            add_operation(server, dispatcher, operation)
    add_resources(server, dispatcher)
    add_prompts(server)
    return server


def _memory(dispatcher: Dispatcher) -> ToolServer:
    server = ToolServer("clawmem-memory", "Knowledge graph", MEMORY_INSTRUCTIONS)
    tools = MemoryTools(dispatcher)
    for asks in (tools.read_graph, tools.search_nodes, tools.open_nodes):
        _add(server, READS, asks)
    for makes in (tools.create_entities, tools.create_relations, tools.add_observations):
        _add(server, REPEATABLE, makes)
    for deletes in (tools.delete_entities, tools.delete_observations, tools.delete_relations):
        _add(server, DESTROYS, deletes)
    return server


def _files(dispatcher: Dispatcher) -> ToolServer:
    server = ToolServer("clawmem-files", "Memory files", FILES_INSTRUCTIONS)
    for operation in operations_in("files"):
        add_operation(server, dispatcher, operation)
    return server


def _add(server: ToolServer, hints: ToolAnnotations, tool: Tool, name: str | None = None) -> None:
    """Register a tool with its docstring as the description."""
    from inspect import cleandoc

    server.add_tool(tool, name, description=" ".join(cleandoc(tool.__doc__ or "").split()), annotations=hints)
