"""Packed fragment keys: one integer per fragment, so that a document is one range of every table and index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clawmem.ports.records import FragmentKey

_BITS = 20
_LAST = (1 << _BITS) - 1


def pack(key: FragmentKey) -> int:
    """Return ``document_id * 2^20 + seq``, which preserves the order of keys."""
    return (key.document_id << _BITS) | key.seq


def unpack(packed: int) -> FragmentKey:
    """Return the key that `pack` turned into *packed*."""
    return FragmentKey(packed >> _BITS, packed & _LAST)


def by_packed(keys: Iterable[FragmentKey]) -> dict[int, FragmentKey]:
    """Return *keys* by their packed form."""
    return {(key[0] << _BITS) | key[1]: key for key in keys}


def unpack_all(packed: Iterable[int]) -> Iterator[FragmentKey]:
    """Iterate over the keys that `pack` turned into *packed*."""
    return (FragmentKey(key >> _BITS, key & _LAST) for key in packed)


def span(document_id: int) -> tuple[int, int]:
    """Return the first and the last possible packed key of a document, for ``between``."""
    return document_id << _BITS, (document_id << _BITS) | _LAST
