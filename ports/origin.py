"""Origins of documents, by trust."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Origin(StrEnum):
    """Original source of a text, from the most to the least trusted."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL_INSIDE = "tool_inside"
    SHARED = "shared"
    IMPORTED = "imported"
    TOOL_OUTSIDE = "tool_outside"


VERIFIED = frozenset({Origin.USER, Origin.ASSISTANT})
"""Origins of texts of the user, and of an assistant in a session of the user."""

_RANKS = {origin: rank for rank, origin in enumerate(Origin)}


def least_trusted(lineage: Iterable[Origin]) -> Origin:
    """Return the least trusted of *lineage*, the origins of a derived text; raise ValueError if it is empty."""
    return max(lineage, key=_RANKS.__getitem__)
