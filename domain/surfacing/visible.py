"""Filters for texts that are never surfaced, regardless of how well they match."""

from __future__ import annotations

from clawmem.domain.security.patterns import AnyCase

PRIVATE = ("_PRIVATE/", "experiments/")
MACHINE_MADE = "_clawmem/"
# Machine-written notes are mostly about the assistant's own work and stay hidden. These types are exceptions: decisions
# and preferences of the user, and problems with their causes, which need not be investigated again.
SETTLED = frozenset({"decision", "preference", "antipattern", "problem"})
LEAST_TEXT = 10  # characters

# Statements of an assistant that it knows nothing: once stored, they would be repeated in every later session.
_DENIAL = AnyCase(
    r"(?:don't|do not) have any (?:information|data|memory|memories|records?)|\bnot sure about\b"
    r"|(?:don't|do not) (?:recall|remember)\b|no relevant memories found|(?:don't|do not) have access to",
    "don't |do not |not sure about|no relevant memories found & have |recall|remember|sure|found",
)


def is_private(display_path: str) -> bool:
    """Whether a document is in a folder that the user excluded from surfacing."""
    return any(part in display_path for part in PRIVATE)


def is_hidden(display_path: str, content_type: str) -> bool:
    """
    Whether a document is in a private folder or machine-written; machine-written documents of `SETTLED` types are not
    hidden.

    A folder ``_clawmem`` within a collection has notes that the user saved.
    """
    if is_private(display_path):
        return True
    return display_path.startswith(MACHINE_MADE) and content_type not in SETTLED


def is_noise(text: str) -> bool:
    """Whether a text has no content: it is too short, or an assistant states in it that it knows nothing."""
    return len(text.strip()) < LEAST_TEXT or _DENIAL.search(text) is not None
