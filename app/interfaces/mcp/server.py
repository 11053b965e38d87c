"""The MCP server with its tools, for standard input and output and for HTTP."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from mcp.types import ToolAnnotations

from clawmem.app.interfaces.mcp.calling import ToolServer
from clawmem.app.interfaces.mcp.document_tools import DocumentTools
from clawmem.app.interfaces.mcp.files_tools import FilesTools
from clawmem.app.interfaces.mcp.instructions import FILES_INSTRUCTIONS, INSTRUCTIONS, MEMORY_INSTRUCTIONS
from clawmem.app.interfaces.mcp.lifecycle_tools import LifecycleTools
from clawmem.app.interfaces.mcp.memory_tools import MemoryTools
from clawmem.app.interfaces.mcp.operations import add_operation
from clawmem.app.interfaces.mcp.resources import add_prompts, add_resources
from clawmem.app.interfaces.mcp.search_tools import SearchTools
from clawmem.app.interfaces.mcp.sets import ToolSet
from clawmem.app.interfaces.mcp.vault_tools import VaultTools
from clawmem.app.operations.table import all_operations
from clawmem.app.serve.dispatcher import Dispatcher

Tool = Callable[..., Any]

READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
REPEATABLE = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
DESTROYS = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
)


def make_server(dispatcher: Dispatcher, chosen: ToolSet = ToolSet.CLAWMEM) -> ToolServer:
    """Return a server with the tools of one set."""
    logging.getLogger("mcp").setLevel(logging.ERROR)  # errors are reported to the client
    return {ToolSet.CLAWMEM: _clawmem, ToolSet.MEMORY: _memory, ToolSet.FILES: _files}[chosen](dispatcher)


def _clawmem(dispatcher: Dispatcher) -> ToolServer:
    server = ToolServer("clawmem", "Memory", INSTRUCTIONS)
    search, documents, vault = SearchTools(dispatcher), DocumentTools(dispatcher), VaultTools(dispatcher)
    _add(server, READS, vault.guide, name="__IMPORTANT")
    for asks in (
        search.memory_retrieve,
        search.query,
        search.search,
        search.vsearch,
        search.intent_search,
        search.query_plan,
        documents.get,
        documents.multi_get,
        documents.find_similar,
        documents.timeline,
        documents.session_log,
    ):
        _add(server, READS, asks)
    _add(server, READS, documents.list_documents, name="list")
    _add(server, DESTROYS, LifecycleTools(dispatcher).memory_forget)
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
    _add(server, DESTROYS, FilesTools(dispatcher).memory)
    return server


def _add(server: ToolServer, hints: ToolAnnotations, tool: Tool, name: str | None = None) -> None:
    """Register a tool with its docstring as the description."""
    from inspect import cleandoc

    server.add_tool(tool, name, description=" ".join(cleandoc(tool.__doc__ or "").split()), annotations=hints)
