"""Sanitising of text of the vault before a model reads it."""

from __future__ import annotations

from functools import lru_cache

from clawmem.domain.security.escaping import escape
from clawmem.domain.security.injections import has_injection
from clawmem.domain.security.redaction import redact

PLACEHOLDER = "[content filtered for security]"
MOST_CHARACTERS = 10_000  # above the limit of any block


def safe(text: str) -> str:
    """Return *text* escaped and redacted, or a placeholder if it gives orders to the reader."""
    return _safe(text[:MOST_CHARACTERS])


@lru_cache(1024)  # titles and kinds recur within a block and from block to block
def _safe(shown: str) -> str:
    return PLACEHOLDER if has_injection(shown) else escape(redact(shown))
