"""A fragment's key as one integer: rows are kept in its order, so that a document is one range of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clawmem.ports.records import FragmentKey

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BITS = 20


def pack(key: FragmentKey) -> int:
    """``document_id * 2^20 + seq``: keeps the order of keys."""
    return (key.document_id << _BITS) | key.seq


def unpack(packed: int) -> FragmentKey:
    """The inverse of `pack`."""
    return FragmentKey(packed >> _BITS, packed & ((1 << _BITS) - 1))


def document_ids(packed: NDArray[np.int64]) -> NDArray[np.int64]:
    """The documents of packed keys."""
    return packed >> _BITS


def span(document_id: int) -> tuple[int, int]:
    """The first possible key of a document, and that of the next one."""
    return document_id << _BITS, (document_id + 1) << _BITS
