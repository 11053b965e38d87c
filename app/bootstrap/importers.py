"""Stores of memory tools that can be imported, by the name of the tool."""

from clawmem.adapters.imports.stores import STORES

__all__ = ["STORES"]
