from __future__ import annotations

import math
import sys
from array import array
from collections.abc import Callable, Iterable

from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import BadVector
from clawmem.ports.records import EVERYTHING, FragmentKey, Hit, Scope, Vector


class MemoryVectorIndex:
    """
    ``VectorIndex`` that compares with every vector: exact, and the reference to read first.

    The documents are asked for the collection that a fragment belongs to, so it is never kept twice.
    """

    method = "exact scan"

    def __init__(self, documents: DocumentStore) -> None:
        self._documents = documents
        self._vectors: dict[FragmentKey, array[float]] = {}

    def put(self, vectors: Iterable[tuple[FragmentKey, Vector]]) -> None:
        new = {key: decoded(vector) for key, vector in vectors}
        together = [*self._vectors.values(), *new.values()]
        for numbers in new.values():
            if not any(numbers):
                raise BadVector("it is all zeros")
            refuse_length(numbers, expected=len(together[0]))
        self._vectors.update(new)

    def remove(self, document_id: int) -> None:
        for key in [key for key in self._vectors if key.document_id == document_id]:
            del self._vectors[key]

    def search(self, vector: Vector, limit: int, scope: Scope = EVERYTHING) -> list[Hit]:
        if not self._vectors:
            return []
        asked = decoded(vector)
        refuse_length(asked, expected=len(next(iter(self._vectors.values()))))
        if not any(asked) or limit < 1:
            return []
        hits = [Hit(key, _cosine(asked, self._vectors[key])) for key in self._in(scope)]
        return sorted(hits, key=lambda hit: (-hit.score, hit.key))[:limit]

    def count(self) -> int:
        return len(self._vectors)

    def clear(self) -> None:
        self._vectors = {}

    def snapshot(self) -> Callable[[], None]:
        """A function that puts the index back to how it is now."""
        kept = dict(self._vectors)

        def restore() -> None:
            self._vectors = kept

        return restore

    def _in(self, scope: Scope) -> Iterable[FragmentKey]:
        if not scope.collections:
            return self._vectors
        documents = self._documents.many({key.document_id for key in self._vectors})
        seen = {number for number, found in documents.items() if found.collection in scope.collections}
        return [key for key in self._vectors if key.document_id in seen]


def decoded(vector: Vector) -> array[float]:
    """
    The numbers of a vector.

    Raises:
        BadVector: it is empty, cut off within a number, or holds a number that is not finite.
    """
    if not vector or len(vector) % 4:
        raise BadVector(f"{len(vector)} bytes are no float32 numbers")
    numbers = array("f", vector)
    if sys.byteorder == "big":
        numbers.byteswap()
    if not all(map(math.isfinite, numbers)):
        raise BadVector("a number in it is not finite")
    return numbers


def refuse_length(numbers: array[float], *, expected: int) -> None:
    """Raise ``BadVector`` unless there are *expected* numbers."""
    if len(numbers) != expected:
        raise BadVector(f"it has {len(numbers)} numbers, the others have {expected}")


def _cosine(a: array[float], b: array[float]) -> float:
    cosine = sum(x * y for x, y in zip(a, b, strict=True)) / (math.hypot(*a) * math.hypot(*b))
    return max(-1.0, min(1.0, cosine))
