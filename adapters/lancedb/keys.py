"""Packed fragment keys: one integer for a fragment at a granularity, by which a commit replaces rows."""

from __future__ import annotations

from typing import Any

from clawmem.ports.records import FragmentKey, Grain

MARKER = -1  # the key of the marker row, which is no fragment
_SEQ_BITS = 20
_GRAINS = tuple(Grain)


def pack(key: FragmentKey, grain: Grain = Grain.LINE) -> int:
    """Return ``(document_id * 2^20 + seq) * 4 + grain``, which is unique in a table."""
    return (key.document_id << _SEQ_BITS | key.seq) * len(_GRAINS) + _GRAINS.index(grain)


def grain_numbers(keys: Any) -> Any:
    """Return the position in `Grain` of each key's granularity; argument and result are numpy arrays."""
    return keys % len(_GRAINS)
