"""A fragment's key as one integer: rows are kept in its order, so that a document is one range of them."""

from __future__ import annotations

from clawmem.ports.records import FragmentKey

_BITS = 20


def pack(key: FragmentKey) -> int:
    """``document_id * 2^20 + seq``: keeps the order of keys."""
    return (key.document_id << _BITS) | key.seq


def unpack(packed: int) -> FragmentKey:
    """The inverse of `pack`."""
    return FragmentKey(packed >> _BITS, packed & ((1 << _BITS) - 1))


def span(document_id: int) -> tuple[int, int]:
    """The first possible key of a document, and that of the next one."""
    return document_id << _BITS, (document_id + 1) << _BITS
