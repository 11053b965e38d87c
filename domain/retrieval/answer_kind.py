"""Kind of answer that a question expects: whether it must contain a number."""

from __future__ import annotations

from clawmem.domain.security.patterns import AnyCase

_ASKS_HOW_MANY = AnyCase(r"\bhow (?:many|much|old|long|often|far|tall|big|large|heavy)\b", "how ")
_NUMBER = AnyCase(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|million"
    r"|once|twice|couple|half)\b"
)


def asks_for_number(query: str) -> bool:
    """Whether the answer to *query* must contain a number, in digits or words. English only."""
    return _ASKS_HOW_MANY.search(query) is not None


def holds_number(text: str) -> bool:
    """Whether *text* contains a number, in digits or in English words."""
    return _NUMBER.search(text) is not None
