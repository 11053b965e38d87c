"""clawmem: a memory for AI agents that people can trust."""

# `typing` is not imported: it takes as long as a request to the server (decision 6).
TYPE_CHECKING = False
if TYPE_CHECKING:
    from clawmem.app.interfaces.python.memory import Memory

__all__ = ["Memory"]


def __getattr__(name: str) -> object:
    """Import `Memory` at its first use, because every command imports this package."""
    if name != "Memory":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from clawmem.app.interfaces.python.memory import Memory

    return Memory
