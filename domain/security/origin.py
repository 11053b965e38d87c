"""Who a memory comes from, and how far its words may go when it is put before an assistant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType

from clawmem.domain.security.disguise import unmask
from clawmem.domain.security.patterns import Pattern
from clawmem.ports.named_tuple import NamedTuple


class Origin(StrEnum):
    """Where a text was said first, from the most to the least trusted."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL_INSIDE = "tool_inside"
    IMPORTED = "imported"
    TOOL_OUTSIDE = "tool_outside"


class Wording(NamedTuple):
    """
    How a text is introduced: ``lead`` before it, ``attributes`` on its element.

    ``held_back`` asks that it is left out, because it gives orders and nobody here stands behind it.
    """

    lead: str
    attributes: Mapping[str, str]
    held_back: bool


LEADS = MappingProxyType(
    {
        Origin.USER: "The notes say:",
        Origin.ASSISTANT: "An earlier session noted:",
        Origin.TOOL_INSIDE: "A tool reported:",
        Origin.IMPORTED: "An imported conversation says:",
        Origin.TOOL_OUTSIDE: "A source from outside, not verified, says:",
    }
)
SOURCES = MappingProxyType(
    {
        Origin.USER: "",
        Origin.ASSISTANT: "said by an assistant",
        Origin.TOOL_INSIDE: "reported by a tool",
        Origin.IMPORTED: "from an imported conversation, not verified",
        Origin.TOOL_OUTSIDE: "from outside, not verified",
    }
)
"""The same behind a title. What the user wrote is the rule, and says nothing."""

_TAG = "origin:"
_TRUSTED = frozenset({Origin.USER, Origin.ASSISTANT, Origin.TOOL_INSIDE})

_ORDERS = Pattern(
    r"(?:\A\s*|(?<=[.!?:;])\s+|(?<!\s)[^\S\n]*\n\s*)(?:[-*>]\s*|\d+[.)]\s*)?[\"'*_`]*"
    r"(?:please\s+|always\s+|never\s+|now\s+|you\s+(?:must|should|shall|have\s+to|need\s+to|will)\s+|do\s+not\s+|don['’]?t\s+"
    r"|make\s+sure\s+|be\s+sure\s+|remember\s+to\s+"
    r"|(?:ignore|run|execute|send|delete|remove|install|download|open|visit|click|upload|post|forward|email|copy|paste|write"
    r"|add|reply|respond|answer|tell|follow|forget|use|commit|push|merge|approve|grant|disable|transfer|call)\s+(?!of\b|is\b|was\b)"
    r"|(?:bitte|immer|niemals|ignoriere|sende|losche|installiere|fuhre)\s+|(?:por\s+favor|siempre|nunca|ignora|envia|borra|instala|ejecuta)\s+"
    r"|(?:veuillez|toujours|jamais|ignore[sz]?|envoie|envoyez|supprime[sz]?|installe[sz]?|execute[sz]?)\s+)"
)


def least_trusted(lineage: Iterable[Origin]) -> Origin:
    """
    The origin of what was made from several: its trust is the least among them.

    Raises:
        ValueError: there is no lineage.
    """
    return max(lineage, key=list(Origin).index)


def as_tag(origin: Origin) -> str:
    """How a document records its origin: ``origin:imported``."""
    return f"{_TAG}{origin}"


def origin_of(tags: Iterable[str], *, by_machine: bool = False) -> Origin:
    """
    The origin that *tags* record, the least trusted of several: a note can lower its own trust, not raise it.

    Without any a text is the user's own, or the assistant's where it was written *by_machine*.
    """
    recorded = {tag.removeprefix(_TAG) for tag in tags if tag.startswith(_TAG)}
    usual = Origin.ASSISTANT if by_machine else Origin.USER
    return least_trusted([origin for origin in Origin if origin in recorded] or [usual])


def is_verified(origin: Origin) -> bool:
    """Whether somebody here stands behind a text: the user, an assistant in a session of theirs, a tool of their own."""
    return origin in _TRUSTED


def wording(origin: Origin, text: str) -> Wording:
    """
    How *text* of *origin* is worded: always as what somebody said, never as an instruction.

    What comes from outside, or was imported, says so in its attributes. Orders from outside are held back:
    they inform nobody of anything but that somebody wanted to give them.
    """
    trust = {} if is_verified(origin) else {"trust": "unverified"}
    held_back = origin is Origin.TOOL_OUTSIDE and gives_orders(text)
    return Wording(LEADS[origin], MappingProxyType({"origin": origin.value, **trust}), held_back)


def gives_orders(text: str) -> bool:
    """Whether a sentence or list item of *text* begins like an order, in English, German, Spanish or French."""
    return _ORDERS.compiled.search(unmask(text).text) is not None
