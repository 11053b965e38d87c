"""The origins that the vault keeps apart."""

from __future__ import annotations

from enum import StrEnum


class Origin(StrEnum):
    """The first source of a text, from the most to the least trusted."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL_INSIDE = "tool_inside"
    SHARED = "shared"
    IMPORTED = "imported"
    TOOL_OUTSIDE = "tool_outside"
