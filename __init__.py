"""clawmem: a memory for AI agents that people can trust."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clawmem.app.interfaces.python.memory import Memory

__all__ = ["Memory"]


def __getattr__(name: str) -> object:
    """Import `Memory` at its first use, because every command imports this package."""
    if name != "Memory":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from clawmem.app.interfaces.python.memory import Memory

    return Memory
