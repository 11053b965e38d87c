"""Pages of a SQLite file, read independently, so that one damaged page does not affect the others."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from struct import Struct

from clawmem.adapters.sqlite.connections import PAGE_SIZE

_HEADER = Struct(">16sHBBBBBBIIII")  # the header up to the number of freelist pages
_MAGIC = b"SQLite format 3\0"
_SIZES = (4096, PAGE_SIZE)  # of vaults; those of earlier versions have smaller pages
_TREE_PAGES = (2, 5, 10, 13)  # first byte
_WAL_HEADER = Struct(">IIIIIIII")
_WAL_FRAME = Struct(">IIIIII")
_WAL_MAGIC = (0x377F0682, 0x377F0683)
_WORD = Struct(">I")


class PageFile:
    """
    The pages of the file at *path*, with the committed pages of its write-ahead log.

    An invalid header is replaced by the values that every vault has; ``has_header`` says whether it is valid, and
    ``is_cut`` whether the file has fewer pages than the header says. Pages are read when they are asked for, because a
    vault may be larger than the memory.
    """

    def __init__(self, path: str) -> None:
        self._file = Path(path).open("rb")  # noqa: SIM115  close() closes it
        self._length = self._file.seek(0, os.SEEK_END)
        header = self._read(0, 100).ljust(100, b"\0")
        magic, size, _, _, reserved, *_ = _HEADER.unpack_from(header)
        size = 65536 if size == 1 else size
        self.has_header = magic == _MAGIC and size >= 512 and size & (size - 1) == 0
        self.size = size if self.has_header else self._likely_size()
        self._logged = dict(_logged(Path(f"{path}-wal"), self.size))
        first = self._logged.get(1, header)
        self.has_header |= first[:16] == _MAGIC
        self.usable = self.size - (reserved if self.has_header else 0)
        told = first if self.has_header else bytes(100)
        self.user_version: int = _WORD.unpack_from(told, 60)[0]
        self.application_id: int = _WORD.unpack_from(told, 68)[0]
        self._trunk: int = _WORD.unpack_from(told, 32)[0]
        self.count = max([-(-self._length // self.size), *self._logged], default=0)
        self.is_cut: bool = _WORD.unpack_from(told, 28)[0] > self.count

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    @property
    def is_text(self) -> bool:
        """Whether the file has no header and no NUL byte, which every page of a database has."""
        parts = (self._read(at, PAGE_SIZE) for at in range(0, self._length, PAGE_SIZE))
        return not self.has_header and self._length > 0 and all(b"\0" not in part for part in parts)

    def __getitem__(self, number: int) -> bytes:
        """Return one page. Raises `ValueError` if the file has no such page, or the disk cannot read it."""
        if number in self._logged:
            return self._logged[number]
        try:
            page = self._read((number - 1) * self.size, self.size) if 0 < number <= self.count else b""
        except OSError as error:
            raise ValueError(f"page {number} cannot be read") from error
        if len(page) < self.size:
            raise ValueError(f"there is no page {number}")
        return page

    def _read(self, at: int, length: int) -> bytes:
        self._file.seek(at)
        return self._file.read(length)

    def _likely_size(self) -> int:
        """Return the page size of a vault without a header: of the smaller one, if trees have pages between the larger ones."""
        smaller, larger = _SIZES
        between, at_ends = (
            [self._read(at, 1)[0] for at in range(start, self._length, larger)] for start in _SIZES
        )
        return smaller if 2 * _share_of_trees(between) > _share_of_trees(at_ends) else larger

    def free(self) -> set[int]:
        """Return the numbers of the unused pages, as far as the freelist can be read."""
        found: set[int] = set()
        trunk = self._trunk
        while 0 < trunk <= self.count and trunk not in found:
            found.add(trunk)
            try:
                page = self[trunk]
            except ValueError:
                break
            trunk, leaves = Struct(">II").unpack_from(page)
            listed = range(8, min(8 + 4 * leaves, len(page) - 3), 4)
            found.update(_WORD.unpack_from(page, at)[0] for at in listed)
        return found


def _share_of_trees(starts: Sequence[int]) -> float:
    return sum(first in _TREE_PAGES for first in starts) / max(1, len(starts))


def _logged(wal: Path, size: int) -> Iterator[tuple[int, bytes]]:
    """Iterate over the pages in a write-ahead log, up to its last complete transaction."""
    try:
        content = wal.read_bytes()
        magic, _, page_size, _, *salts, first, second = _WAL_HEADER.unpack_from(content)
    except (FileNotFoundError, struct.error):
        return
    if magic not in _WAL_MAGIC or page_size != size:
        return
    order = ">" if magic & 1 else "<"
    sums = _checksum(content[:24], order, (0, 0))
    if sums != (first, second):
        return
    begun: list[tuple[int, bytes]] = []
    width = _WAL_FRAME.size + size
    for at in range(_WAL_HEADER.size, len(content) - width + 1, width):
        number, pages, *frame_salts, first, second = _WAL_FRAME.unpack_from(content, at)
        page = content[at + _WAL_FRAME.size : at + width]
        sums = _checksum(content[at : at + 8] + page, order, sums)
        if frame_salts != salts or sums != (first, second):
            return
        begun.append((number, page))
        if pages:  # this is the last frame of a transaction
            yield from begun
            begun = []


def _checksum(content: bytes, order: str, sums: tuple[int, int]) -> tuple[int, int]:
    one, other = sums
    words = Struct(f"{order}{len(content) // 4}I").unpack(content)
    for left, right in zip(words[::2], words[1::2], strict=True):
        one = (one + left + other) & 0xFFFFFFFF
        other = (other + right + one) & 0xFFFFFFFF
    return one, other
