"""Opposite outcomes: a question about what was accepted is not answered by what was rejected."""

from __future__ import annotations

from collections.abc import Iterable

from clawmem.domain.documents.tokens import words
from clawmem.domain.security.patterns import AnyCase

OPPOSITE = 0.6  # share of the relevance that a note about the opposite outcome keeps; not fitted

_OUTCOMES = (
    AnyCase(
        r"\b(?:accept(?:s|ed|ing|ance)?|approv(?:e[ds]?|ing|al)|angenommen|zugesagt|genehmigt|acceptée?s?|aceptad[oa]s?"
        r"|aceit(?:e|ei|ou|ad[oa]s?))\b"
    ),
    AnyCase(
        r"\b(?:reject(?:s|ed|ing|ion)?|declin(?:e[ds]?|ing)|refus(?:e[ds]?|ing|al)|turn(?:s|ed|ing)?\s+(?:\w+\s+)?down"
        r"|abgelehnt|abgesagt|refusée?s?|rechazad[oa]s?|recusad[oa]s?)\b"
    ),
)
_NEGATED = frozenset("not never no nicht nie kein keine pas jamais no nunca não".split())
NEGATION = 2  # words before an outcome in which it may be negated


def outcome_asked(question: str) -> int | None:
    """Return the outcome that *question* asks for; ``None`` if it names none or both."""
    found = [at for at, pattern in enumerate(_OUTCOMES) if pattern.search(question)]
    return found[0] if len(found) == 1 else None


def is_opposite(outcome: int, texts: Iterable[str]) -> bool:
    """Whether *texts* state only the opposite of *outcome*; a negated outcome counts as its opposite."""
    stated = {_outcome(at, text, found.start()) for text in texts for at, pattern in enumerate(_OUTCOMES)
              for found in pattern.compiled.finditer(text)}  # fmt: skip
    return stated == {1 - outcome}


def _outcome(at: int, text: str, start: int) -> int:
    before = words(text[max(0, start - 40) : start])[-NEGATION:]
    return at if _NEGATED.isdisjoint(before) else 1 - at
