"""From the vectors of a text and its tokens to a sketch: their signs."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from clawmem.ports.sketches import Sketch

if TYPE_CHECKING:
    from clawmem.adapters.models.minilm.embedder import TokenVectors

MOST_WORDS = 64  # tokens of a text that are kept: further ones cost space and tell nothing measurable


def sketch_of(text: str, vectors: TokenVectors, without: Collection[str]) -> Sketch:
    """The whole and its first tokens but those of *without*, 48 bytes each; empty where the model knows no token."""
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
