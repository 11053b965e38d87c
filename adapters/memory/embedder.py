from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from hashlib import blake2b

from clawmem.ports.indexes import surfaces
from clawmem.ports.records import Vector

DIMENSIONS = 64


class HashingEmbedder:
    """
    Reference ``Embedder`` without a model: texts are near each other if they share words.

    Each word adds or subtracts 1 at a position chosen by its hash; the sum is scaled to unit length.
    """

    fingerprint = f"hashing-{DIMENSIONS}-1"
    dimensions = DIMENSIONS

    def embed_query(self, text: str) -> Vector:
        sums = [0.0] * DIMENSIONS
        for word in surfaces(text):
            # Not hash(), which differs between processes.
            place, sign = blake2b(word.encode(), digest_size=2).digest()
            sums[place % DIMENSIONS] += 1.0 if sign % 2 else -1.0
        length = math.hypot(*sums) or 1.0
        return struct.pack(f"<{DIMENSIONS}f", *(number / length for number in sums))

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        return [self.embed_query(text) for text in texts]
