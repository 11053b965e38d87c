from __future__ import annotations

from collections.abc import Sequence

from clawmem.ports.models import WordSimilarities


class ExactWords:
    """Reference ``LateInteraction`` without a model: a word is only similar to itself."""

    def compare(self, words: Sequence[str], texts: Sequence[Sequence[str]]) -> WordSimilarities:
        rows = tuple(tuple(float(word in text) for word in words) for text in map(frozenset, texts))
        return WordSimilarities((1.0 / len(words),) * len(words) if words else (), rows)
