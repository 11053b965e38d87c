"""A fragment's key as one integer, so that a document is one range of every table and index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clawmem.ports.records import FragmentKey

_BITS = 20
_LAST = (1 << _BITS) - 1


def pack(key: FragmentKey) -> int:
    """``document_id * 2^20 + seq``: keeps the order of keys."""
    return (key.document_id << _BITS) | key.seq


def unpack(packed: int) -> FragmentKey:
    """The inverse of `pack`."""
    return FragmentKey(packed >> _BITS, packed & _LAST)


def by_packed(keys: Iterable[FragmentKey]) -> dict[int, FragmentKey]:
    """*keys* by what `pack` makes of each."""
    return {(key[0] << _BITS) | key[1]: key for key in keys}


def unpack_all(packed: Iterable[int]) -> Iterator[FragmentKey]:
    """The inverse of `pack`, of many."""
    return (FragmentKey(key >> _BITS, key & _LAST) for key in packed)


def span(document_id: int) -> tuple[int, int]:
    """First and last possible key of a document, for ``between``."""
    return document_id << _BITS, (document_id << _BITS) | _LAST
