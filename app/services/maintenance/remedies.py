"""Commands that repair what health checks find."""

from __future__ import annotations

# Indexes are derived from the records, so a rebuild repairs any of them.
REBUILD = "Run: clawmem rebuild"
# Repairs the records themselves, and keeps every readable one.
REPAIR = "Run: clawmem repair"
# Reads unchanged files again.
REINDEX = "Run: clawmem reindex --force"


def without_remedy(fault: str) -> str:
    """Return *fault* without the advice to rebuild at its end."""
    return fault.removesuffix(REBUILD).rstrip(" .")
