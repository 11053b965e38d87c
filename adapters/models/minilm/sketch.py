"""Sketches of texts: the signs of the vectors of a text and its tokens."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from clawmem.ports.sketches import Sketch

if TYPE_CHECKING:
    from clawmem.adapters.models.minilm.embedder import TokenVectors

MOST_WORDS = 64  # tokens per sketch; further tokens cost space without a measurable gain


def sketch_of(text: str, vectors: TokenVectors, without: Collection[str]) -> Sketch:
    """
    Return the signs of the text vector and of its first tokens except *without*, 48 bytes each.

    The result is empty if the model knows no token of the text.
    """
    import numpy as np

    telling = [
        nth for nth, (start, end) in enumerate(vectors.spans) if _tells(text[start:end].lower(), without)
    ]
    if not len(vectors.spans):
        return b""
    whole = np.frombuffer(vectors.pooled, dtype="<f4")
    return np.packbits(np.vstack([whole, vectors.vectors[telling[:MOST_WORDS]]]) > 0, axis=1).tobytes()


def _tells(token: str, without: Collection[str]) -> bool:
    return token not in without and any(map(str.isalnum, token))
