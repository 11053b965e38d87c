from __future__ import annotations

import errno
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any
from zlib import crc32

from clawmem.adapters.files.disk import flush_folder, write_draft
from clawmem.ports.errors import VaultFull, VaultReadOnly
from clawmem.ports.journal import ForgetRecord, ForgottenPlace

_CHECKSUM, _COUNT = "crc32", "places"


class ForgetFile:
    """
    ``ForgetLog`` in one file that only its owner can read.

    Each place is a JSON line with a checksum. The last line contains the number of places, which reveals a
    file that was truncated between two lines.
    """

    def __init__(self, path: str) -> None:
        self._path = Path(path)

    @property
    def location(self) -> str:
        return str(self._path)

    def read(self) -> ForgetRecord:
        try:
            content = self._path.read_bytes()
        except FileNotFoundError:
            return ForgetRecord()
        except OSError as error:
            raise VaultReadOnly(self.location) from error
        entries = [_entry(line) for line in content.splitlines() if line.strip()]
        places = [ForgottenPlace(**entry) for entry in entries if entry.keys() == {*ForgottenPlace._fields}]
        is_whole = entries[-1:] == [{_COUNT: len(places)}] and len(places) == len(entries) - 1
        first = {(place.collection, place.path): place for place in reversed(places)}
        return ForgetRecord([*reversed(first.values())], not is_whole)

    def write(self, places: Iterable[ForgottenPlace]) -> None:
        entries: list[Mapping[str, Any]] = [place._asdict() for place in places]
        lines = [
            json.dumps({**entry, _CHECKSUM: _checksum(entry)}) for entry in (*entries, {_COUNT: len(entries)})
        ]
        draft = self._path.with_name(f"{self._path.name}.draft")
        with self._translated():
            write_draft(draft, "".join(f"{line}\n" for line in lines).encode(), 0o600)
            draft.replace(self._path)
            flush_folder(self._path.parent)

    def set_aside(self) -> None:
        copies = (self._path.with_name(f"{self._path.name}.damaged-{number}") for number in count(1))
        with self._translated():
            self._path.replace(next(copy for copy in copies if not copy.exists()))

    def damaged_copies(self) -> list[str]:
        return sorted(map(str, self._path.parent.glob(f"{self._path.name}.damaged-*")))

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
            raise (VaultFull if full else VaultReadOnly)(self.location) from error


def _checksum(entry: Mapping[str, Any]) -> int:
    return crc32(json.dumps(entry).encode())


def _entry(line: bytes) -> dict[str, Any]:
    """Return the entry in *line*; empty if it cannot be read or differs from its checksum."""
    with suppress(ValueError, RecursionError, AttributeError, KeyError, TypeError):
        entry: dict[str, Any] = json.loads(line)
        if entry.pop(_CHECKSUM) == _checksum(entry):
            return entry
    return {}
