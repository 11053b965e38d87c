"""Commands that repair what examinations find."""

from __future__ import annotations

# Indexes are made of the records, so this puts right whatever is wrong with one.
REBUILD = "Run: clawmem rebuild"
# For the records themselves: it keeps what can be read of them.
REPAIR = "Run: clawmem repair"
# For what is made of a file that did not change.
REINDEX = "Run: clawmem reindex --force"


def without_remedy(fault: str) -> str:
    """Return *fault* without the advice to rebuild at its end."""
    return fault.removesuffix(REBUILD).rstrip(" .")
