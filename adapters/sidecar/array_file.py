"""
Files of named arrays: a JSON header line, then the little-endian numbers of each array.

The file is memory-mapped: an array costs nothing until it is accessed, and all processes that map the same
file share its memory.
"""

from __future__ import annotations

import json
import mmap
import zlib
from collections.abc import Iterable, Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ALIGNMENT = 64


class Column(NamedTuple):
    """An array to write: its numpy type, its shape, and its numbers in any number of blocks."""

    name: str
    kind: str
    shape: tuple[int, ...]
    blocks: Iterable[NDArray[Any]]


class ArrayFile:
    """The arrays of one file."""

    def __init__(self, file: BinaryIO) -> None:
        """
        Map the file and read its header.

        Args:
            file: May be closed afterwards.

        Raises:
            ValueError: the file has another layout.
        """
        self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._places = _places(self._map.readline(), len(self._map))

    def __contains__(self, name: str) -> bool:
        return name in self._places

    def checksum(self) -> int:
        """Return the CRC-32 of the whole file, reading all of it."""
        return zlib.crc32(self._map)

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of one array."""
        return tuple(self._places[name][1])

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return one array, read-only."""
        import numpy as np

        kind, shape, offset = self._places[name]
        return np.frombuffer(self._map, np.dtype(kind), count=prod(shape), offset=offset).reshape(shape)


def chunks(columns: Sequence[Column]) -> Iterator[bytes]:
    """Iterate over the bytes of a file with these arrays. All blocks of one array are consumed before the next."""
    import numpy as np

    header = json.dumps([[c.name, c.kind, np.dtype(c.kind).itemsize, c.shape] for c in columns]).encode()
    yield header + b"\n"
    at = len(header) + 1
    for column in columns:
        yield bytes(_aligned(at) - at)
        at = _aligned(at)
        for block in column.blocks:
            numbers = np.ascontiguousarray(block, column.kind)
            yield numbers.tobytes()
            at += numbers.nbytes


def _places(header: bytes, size: int) -> dict[str, tuple[str, list[int], int]]:
    places = {}
    at = len(header)
    try:
        for name, kind, width, shape in json.loads(header):
            at = _aligned(at)
            places[name] = (kind, shape, at)
            at += width * prod(shape)
    except (TypeError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError("it holds no arrays") from error
    if at != size:
        raise ValueError(f"its arrays take {at} bytes of {size}")
    return places


def _aligned(offset: int) -> int:
    return -(-offset // _ALIGNMENT) * _ALIGNMENT
