"""clawmem as a MemoryProvider of the Hermes agent."""

from .provider import ClawmemProvider


def register(ctx) -> None:
    """Register the provider; Hermes calls this once."""
    ctx.register_memory_provider(ClawmemProvider())
