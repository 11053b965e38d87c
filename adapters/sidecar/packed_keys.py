"""Packed fragment keys: one integer per fragment. Rows are sorted by it, so that a document is one range of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clawmem.ports.records import FragmentKey

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BITS = 20


def pack(key: FragmentKey) -> int:
    """Return ``document_id * 2^20 + seq``, which preserves the order of keys."""
    return (key.document_id << _BITS) | key.seq


def unpack(packed: int) -> FragmentKey:
    """Return the key that `pack` turned into *packed*."""
    return FragmentKey(packed >> _BITS, packed & ((1 << _BITS) - 1))


def document_ids(packed: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the document ids of packed keys."""
    return packed >> _BITS


def span(document_id: int) -> tuple[int, int]:
    """Return the first possible key of a document, and that of the next document."""
    return document_id << _BITS, (document_id + 1) << _BITS
