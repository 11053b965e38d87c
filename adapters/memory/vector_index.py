from __future__ import annotations

import math
import sys
from array import array
from collections.abc import Callable, Collection, Iterable

from clawmem.adapters.memory.derived_index import Commits, is_in
from clawmem.ports.errors import BadVector
from clawmem.ports.records import EVERYTHING, FragmentKey, Hit, Scope, Vector, VectorEntry


class MemoryVectorIndex(Commits):
    """Reference ``VectorIndex`` with an exhaustive, exact scan."""

    method = "exact scan"

    def __init__(self) -> None:
        super().__init__()
        self._entries: dict[FragmentKey, VectorEntry] = {}

    def put(self, entries: Iterable[VectorEntry]) -> None:
        new = {entry.key: entry for entry in entries}
        together = [*self._entries.values(), *new.values()]
        for entry in new.values():
            numbers = decoded(entry.vector)
            if not any(numbers):
                raise BadVector("it is all zeros")
            refuse_length(numbers, expected=len(together[0].vector) // 4)
        self._entries.update(new)

    def remove(self, document_id: int) -> None:
        for key in [key for key in self._entries if key.document_id == document_id]:
            del self._entries[key]

    def search(self, vector: Vector, limit: int, scope: Scope = EVERYTHING) -> list[Hit]:
        return nearest(vector, limit, scope, self._entries.values())

    def count(self) -> int:
        return len(self._entries)

    def clear(self) -> None:
        self._entries, self._marker = {}, None

    def snapshot(self) -> Callable[[], None]:
        """Return a function that restores the current state of the index."""
        kept = dict(self._entries), self._marker

        def restore() -> None:
            self._entries, self._marker = kept

        return restore


def nearest(vector: Vector, limit: int, scope: Scope, entries: Collection[VectorEntry]) -> list[Hit]:
    """
    Return the nearest of *entries* in scope, as `VectorIndex.search` specifies.

    Raises:
        BadVector: *vector* has another length than the entries.
    """
    if not entries:
        return []
    asked = decoded(vector)
    refuse_length(asked, expected=len(next(iter(entries)).vector) // 4)
    if not any(asked) or limit < 1:
        return []
    hits = [Hit(e.key, _cosine(asked, decoded(e.vector))) for e in entries if is_in(scope, e)]
    return sorted(hits, key=lambda hit: (-hit.score, hit.key))[:limit]


def decoded(vector: Vector) -> array[float]:
    """
    Return the numbers of a vector.

    Raises:
        BadVector: the vector is empty or truncated, or a number is not finite.
    """
    if not vector or len(vector) % 4:
        raise BadVector(f"{len(vector)} bytes are no float32 numbers")
    numbers = array("f", vector)
    if sys.byteorder == "big":
        numbers.byteswap()
    if not all(map(math.isfinite, numbers)):
        raise BadVector("one of its numbers is not finite")
    return numbers


def refuse_length(numbers: array[float], *, expected: int) -> None:
    """Raise ``BadVector`` unless there are *expected* numbers."""
    if len(numbers) != expected:
        raise BadVector(f"it has {len(numbers)} numbers, the others have {expected}")


def _cosine(a: array[float], b: array[float]) -> float:
    cosine = sum(x * y for x, y in zip(a, b, strict=True)) / (math.hypot(*a) * math.hypot(*b))
    return max(-1.0, min(1.0, cosine))
