"""clawmem: a memory for AI agents that people can trust."""

TYPE_CHECKING = False  # typing is not imported for it: Ctrl-C while it loads shows a traceback
if TYPE_CHECKING:
    from clawmem.app.interfaces.python.memory import Memory

__all__ = ["Memory"]


def __getattr__(name: str) -> object:
    """Import `Memory` at its first use, because every command imports this package."""
    if name != "Memory":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from clawmem.app.interfaces.python.memory import Memory

    return Memory
