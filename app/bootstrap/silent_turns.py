"""Record of prompts that need no search; it imports neither the container nor the vault, whose start would cost more."""

from clawmem.adapters.sqlite.silent_turn import record_silent_turn

__all__ = ["record_silent_turn"]
