"""Text of the vault as it may stand in what a model reads."""

from __future__ import annotations

from functools import lru_cache

from clawmem.domain.security.escaping import escape
from clawmem.domain.security.promptguard import guarded
from clawmem.domain.security.redaction import redact

MOST_CHARACTERS = 10_000  # more than any block may show


def safe(text: str) -> str:
    """*text* in which no element begins or ends, without secrets; a placeholder where it gives orders."""
    return _safe(text[:MOST_CHARACTERS])


@lru_cache(1024)  # the same titles and kinds in every block, and all of them several times in one
def _safe(shown: str) -> str:
    return escape(redact(guarded(shown, limit=MOST_CHARACTERS)).text)
