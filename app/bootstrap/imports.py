"""Stores of other memory tools that can be imported, by the name of the tool."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clawmem.ports.imports import ForeignStore

_MODULES: Mapping[str, str] = MappingProxyType(
    {
        "mem0": "mem0",
        "claude-mem": "claude_mem",
        "basic-memory": "markdown_memories",
        "mempalace": "mempalace",
        "memsearch": "markdown_memories",
        "openclaw": "markdown_memories",
        "clawmem": "clawmem_original",
        "letta": "interchange",
        "pam": "interchange",
        "memory-jsonl": "interchange",
    }
)
TOOLS = tuple(_MODULES)


def foreign_store(tool: str) -> ForeignStore:
    """Return the reader of the stores of *tool*, one of `TOOLS`."""
    stores: tuple[ForeignStore, ...] = import_module(f"clawmem.adapters.imports.{_MODULES[tool]}").STORES
    return next(one for one in stores if one.name == tool)
