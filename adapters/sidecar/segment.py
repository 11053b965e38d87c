from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from clawmem.adapters.sidecar.array_file import ArrayFile
from clawmem.adapters.sidecar.manifest import SegmentRecord
from clawmem.adapters.sidecar.packed_keys import document_ids, span
from clawmem.adapters.sidecar.text_column import TextColumn
from clawmem.ports.records import Scope

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]
    Rows = NDArray[np.int64]


class Segment:
    """
    A part of the vectors, in the order of their keys.

    ``live`` marks the rows that are not deleted; a `Draft` may change it.
    """

    def __init__(self, record: SegmentRecord, arrays: ArrayFile, deletions: ArrayFile | None) -> None:
        self.record = record
        self._arrays = arrays
        self._deletions = deletions

    @cached_property
    def live(self) -> Mask:
        """Mask of the rows that are not deleted: (n,)."""
        if self._deletions is None:
            return np.ones(self.record.rows, dtype=bool)
        live: Mask = np.unpackbits(self._deletions["deleted"], count=self.record.rows) == 0
        return live

    @cached_property
    def keys(self) -> NDArray[np.int64]:
        """Packed keys: (n,) ascending."""
        return self._arrays["keys"]

    @cached_property
    def vectors(self) -> NDArray[np.float32]:
        """Vectors: (n, dim) float32, unit length."""
        return self._arrays["vectors"]

    @cached_property
    def collections(self) -> TextColumn:
        """Collection of each row."""
        return TextColumn(self._arrays["collections"], self._arrays["collection_ranks"])

    @cached_property
    def times(self) -> TextColumn:
        """Authoring time of each row."""
        return TextColumn(self._arrays["times"], self._arrays["time_ranks"])

    @property
    def has_codes(self) -> bool:
        """Whether the segment is large enough to have codes."""
        return "codes" in self._arrays

    @cached_property
    def codes(self) -> NDArray[np.uint64]:
        """Bit codes: (words, n)."""
        return self._arrays["codes"]

    @cached_property
    def centre(self) -> NDArray[np.float32]:
        """Centre that the codes are relative to: (dim,)."""
        return self._arrays["centre"]

    def rows_of(self, document_id: int) -> slice:
        """Return the rows of a document."""
        first, end = np.searchsorted(self.keys, span(document_id))
        return slice(int(first), int(end))

    def rows_with(self, keys: NDArray[np.int64]) -> Rows:
        """Return the rows of those *keys* that this segment contains."""
        rows = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        found: Rows = rows[self.keys[rows] == keys]
        return found

    def in_scope(self, scope: Scope) -> Mask | None:
        """Return a mask of the rows that a search may return: (n,), or None for all of them."""
        masks: list[Any] = [self.live] if self.record.deleted else []
        if scope.collections:
            masks.append(self.collections.one_of(scope.collections))
        if scope.authored_from is not None or scope.authored_until is not None:
            masks.append(self.times.between(scope.authored_from, scope.authored_until))
        if scope.documents is not None:
            wanted = np.fromiter(scope.documents, dtype=np.int64, count=len(scope.documents))
            masks.append(np.isin(document_ids(self.keys), wanted))
        return np.logical_and.reduce(masks) if masks else None
