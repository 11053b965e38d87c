"""What may never be put before a model unasked, however well it matches."""

from __future__ import annotations

from clawmem.domain.security.patterns import AnyCase

PRIVATE = ("_PRIVATE/", "experiments/")
MACHINE_MADE = "_clawmem/"
HIDDEN = (*PRIVATE, MACHINE_MADE)
# What a machine wrote down is mostly about its own work. These few kinds are what the person settled or what was
# found broken and why: a cause that was found once is not to be looked for again.
SETTLED = frozenset({"decision", "preference", "antipattern", "problem"})
LEAST_TEXT = 10  # characters

# An assistant that says it knows nothing: stored once, it would be repeated for ever.
_DENIAL = AnyCase(
    r"(?:don't|do not) have any (?:information|data|memory|memories|records?)|\bnot sure about\b"
    r"|(?:don't|do not) (?:recall|remember)\b|no relevant memories found|(?:don't|do not) have access to",
    "don't |do not |not sure about|no relevant memories found & have |recall|remember|sure|found",
)


def is_private(display_path: str) -> bool:
    """Whether a document lies where the person wants nothing to be taken from."""
    return any(part in display_path for part in PRIVATE)


def is_hidden(display_path: str, content_type: str) -> bool:
    """Whether a document lies where nothing is taken from; settled things of a machine's own are."""
    if not any(part in display_path for part in HIDDEN):
        return False
    settled = content_type in SETTLED and display_path.startswith(MACHINE_MADE)
    return not settled or any(part in display_path for part in HIDDEN if part != MACHINE_MADE)


def is_noise(text: str) -> bool:
    """Whether a text says nothing: it is too short, or an assistant's word that it knows nothing."""
    return len(text.strip()) < LEAST_TEXT or _DENIAL.search(text) is not None
