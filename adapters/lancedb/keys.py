"""A fragment's key at a grain as one integer, by which a commit replaces rows."""

from __future__ import annotations

from typing import Any

from clawmem.ports.records import FragmentKey, Grain

MARKER = -1  # the key of the one row that holds no fragment
_SEQ_BITS = 20
_GRAINS = tuple(Grain)


def pack(key: FragmentKey, grain: Grain = Grain.LINE) -> int:
    """``(document_id * 2^20 + seq) * 4 + grain``; tells apart all that one table holds."""
    return (key.document_id << _SEQ_BITS | key.seq) * len(_GRAINS) + _GRAINS.index(grain)


def grain_numbers(keys: Any) -> Any:
    """The place in `Grain` of the grain of each key, which is that of an entry; both are numpy arrays."""
    return keys % len(_GRAINS)
