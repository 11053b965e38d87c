from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any
from zlib import crc32

from clawmem.adapters.files.new_files import flush_folder
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
        places = [
            ForgottenPlace(**entry)
            for entry in entries
            if entry and entry.keys() == {*ForgottenPlace._fields}
        ]
        is_whole = len(places) == len(entries) - 1 and entries[-1] == {_COUNT: len(places)}
        first: dict[tuple[str, str], ForgottenPlace] = {}
        for place in places:
            first.setdefault((place.collection, place.path), place)
        return ForgetRecord([*first.values()], not is_whole)

    def write(self, places: Iterable[ForgottenPlace]) -> None:
        lines = [_line(place._asdict()) for place in places]
        content = "".join([*lines, _line({_COUNT: len(lines)})]).encode()
        draft = self._path.with_name(f"{self._path.name}.draft")
        with self._translated():
            draft.unlink(missing_ok=True)  # left by a killed process
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(descriptor)
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


def _line(entry: Mapping[str, Any]) -> str:
    return f"{json.dumps({**entry, _CHECKSUM: _checksum(entry)})}\n"


def _checksum(entry: Mapping[str, Any]) -> int:
    return crc32(json.dumps(entry).encode())


def _entry(line: bytes) -> dict[str, Any] | None:
    """Return the entry in *line*; ``None`` if it cannot be read or differs from its checksum."""
    try:
        entry = json.loads(line)
        return entry if entry.pop(_CHECKSUM) == _checksum(entry) else None
    except (ValueError, RecursionError, AttributeError, KeyError, TypeError):
        return None
