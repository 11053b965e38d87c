from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable, Iterator

from clawmem.ports.errors import VaultFull, VaultReadOnly
from clawmem.ports.forget_log import ForgottenPlace

_OWNER_ALONE = 0o600


class ForgetFile:
    """``ForgetLog`` in one file, a JSON line for each place; nothing but its owner may read it."""

    def __init__(self, path: str) -> None:
        self._path = path

    def places(self) -> list[ForgottenPlace]:
        found: dict[tuple[str, str], ForgottenPlace] = {}
        for place in self._lines():
            found.setdefault((place.collection, place.path), place)
        return list(found.values())

    def add(self, places: Iterable[ForgottenPlace]) -> None:
        lines = [json.dumps(place._asdict(), ensure_ascii=True) for place in places]
        if not lines:
            return
        # A line that a kill left unfinished must not swallow the next one; an empty line says nothing.
        content = "".join(f"\n{line}\n" for line in lines).encode()
        try:
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
            descriptor = os.open(self._path, flags, _OWNER_ALONE)
            with os.fdopen(descriptor, "ab") as file:
                file.write(content)
                file.flush()
                os.fsync(descriptor)
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
            raise (VaultFull if full else VaultReadOnly)(self._path) from error

    def _lines(self) -> Iterator[ForgottenPlace]:
        try:
            with open(self._path, "rb") as file:  # noqa: PTH123
                content = file.read()
        except FileNotFoundError:
            return
        except OSError as error:
            raise VaultReadOnly(self._path) from error
        for line in content.splitlines():
            try:
                place = ForgottenPlace(**json.loads(line))
            except (ValueError, TypeError):
                continue
            if all(isinstance(part, str) for part in place):
                yield place
