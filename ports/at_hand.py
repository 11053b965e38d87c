"""What answers from this process and the files beside the vault: it takes as long as it computes, and is never late."""

from __future__ import annotations


def is_at_hand(part: object) -> bool:
    """Whether an index or an embedder says so of itself (``at_hand``); one that says nothing may be a server."""
    return bool(getattr(part, "at_hand", False))
