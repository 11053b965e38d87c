from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from hashlib import blake2b

from clawmem.ports.folding import surfaces
from clawmem.ports.records import Vector

DIMENSIONS = 64


class HashingEmbedder:
    """
    ``Embedder`` that knows no language: texts are near when they share words. The reference to read first.

    Every word adds or subtracts one at a place that a hash of it chooses; the sum is scaled to length one.
    """

    fingerprint = f"hashing-{DIMENSIONS}-1"
    dimensions = DIMENSIONS

    def embed_query(self, text: str) -> Vector:
        sums = [0.0] * DIMENSIONS
        for word in surfaces(text):
            place, sign = _place_and_sign(word)
            sums[place] += sign
        length = math.hypot(*sums) or 1.0
        return struct.pack(f"<{DIMENSIONS}f", *(number / length for number in sums))

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        return [self.embed_query(text) for text in texts]


def _place_and_sign(word: str) -> tuple[int, float]:
    # Not hash(): that one differs from process to process.
    first, second = blake2b(word.encode(), digest_size=2).digest()
    return first % DIMENSIONS, 1.0 if second % 2 else -1.0
