"""Checksums of the files of a table in a local folder, because LanceDB stores none."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_ATTEMPTS = 3  # comparisons, repeated while another process compacts
_CHUNK_BYTES = 1 << 20
_HINT = "latest_version_hint.json"  # the only file that LanceDB rewrites; it is optional

Sums = dict[str, list[int]]  # size and CRC-32 of each file


class Checksums:
    """
    The list of checksums of one table, stored in a file next to it.

    LanceDB never changes a file after writing it, so each file is read once. Only the holder of the write
    lease renews the list.
    """

    def __init__(self, folder: str, table: str) -> None:
        self._table = Path(folder, f"{table}.lance")
        self._path = Path(folder, f"{table}.checksums.json")
        self._withdrawn: Sums = {}

    def exist(self) -> bool:
        """Whether the list exists."""
        return self._path.exists()

    def renew(self) -> None:
        """Add new files to the list, and remove deleted ones."""
        known = self._withdrawn | self._known()
        sums: Sums = {}
        for name, file in self._files():
            with suppress(FileNotFoundError):  # another process compacts
                sums[name] = known.get(name) or _sum(file)
        self._write(sums)
        self._withdrawn = {}

    def withdraw(self) -> None:
        """
        Empty the list until it is renewed. Call this before files are deleted, so that a killed process
        leaves no false alarm.
        """
        self._withdrawn = self._known()
        self._write({})

    def faults(self) -> list[str]:
        """Return a sentence for each file that differs from its checksum."""
        for _ in range(_ATTEMPTS):
            before = self._stored()
            try:
                sums = _parsed(before)
            except (ValueError, TypeError):
                return ["its list of checksums is invalid"]
            spoilt = [name for name, known in sums.items() if not self._is_whole(name, known)]
            if not spoilt or self._stored() == before:
                break
        return [f"{name} is not as it was written" for name in spoilt]

    def _is_whole(self, name: str, known: list[int]) -> bool:
        try:
            return _sum(self._table / name) == known
        except OSError:
            return False

    def _known(self) -> Sums:
        try:
            return _parsed(self._stored())
        except (ValueError, TypeError):
            return {}

    def _stored(self) -> bytes:
        try:
            return self._path.read_bytes()
        except FileNotFoundError:
            return b"{}"

    def _files(self) -> Iterator[tuple[str, Path]]:
        for folder, _, names in os.walk(self._table):
            for name in names:
                file = Path(folder, name)
                # LanceDB first writes a file under a temporary name.
                if name != _HINT and file.suffix in (".lance", ".manifest", ".txn", ".arrow", ".bin", ".idx"):
                    yield file.relative_to(self._table).as_posix(), file

    def _write(self, sums: Sums) -> None:
        part = self._path.with_suffix(".part")
        part.write_text(json.dumps(sums), "utf-8")
        part.replace(self._path)


def _parsed(stored: bytes) -> Sums:
    """Parse a list of checksums. Raises `ValueError` or `TypeError` for anything else."""
    return dict(json.loads(stored))


def _sum(file: Path) -> list[int]:
    size = checksum = 0
    with file.open("rb") as opened:
        while chunk := opened.read(_CHUNK_BYTES):
            size += len(chunk)
            checksum = zlib.crc32(chunk, checksum)
    return [size, checksum]
