"""Places of imported documents: collection, source, conversation and number."""

from __future__ import annotations

import hashlib
import re

from clawmem.ports.errors import InvalidInput

COLLECTION = "conversations"
CONVERSATION = "conversation"  # content type
_SOURCE = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
_KEY_DIGITS = 16  # 64 bits
_UNIT = re.compile(rf"(?P<key>{_SOURCE.pattern}/[0-9a-f]{{{_KEY_DIGITS}}})/[0-9]{{4,9}}\.md")


def conversation_key(source: str, conversation_id: str) -> str:
    """Return the folder of a conversation: its source, and a digest of its id, which may be a path or any text."""
    digest = hashlib.sha256(conversation_id.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{source}/{digest[:_KEY_DIGITS]}"


def unit_path(key: str, number: int) -> str:
    """Return the path of the *number*-th unit (from 1) of a conversation."""
    return f"{key}/{number:04}.md"


def fact_path(title: str, source_id: int) -> str:
    """Return the path of a memory, a function of the document that states it and of its title."""
    name = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:50].strip("-") or "fact"
    key = " ".join(title.lower().split()).encode("utf-8", "surrogatepass")
    return f"synthesized/{name}-src{source_id}-{hashlib.sha256(key).hexdigest()[:8]}.md"


def conversation_of_path(path: str) -> str:
    """Return the folder of the conversation of an imported document; empty for another document."""
    match = _UNIT.fullmatch(path)
    return match["key"] if match else ""


def checked_source(name: str) -> str:
    """
    Return *name* if a source may have it.

    Raises:
        InvalidInput: it has other characters, or is too long.
    """
    if not _SOURCE.fullmatch(name):
        raise InvalidInput(
            "INVALID_INPUT",
            f"{name[:80]!r} is no name of a source. Use lower-case letters, digits, '-', '.' and '_'.",
        )
    return name
