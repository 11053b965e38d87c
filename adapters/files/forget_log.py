from __future__ import annotations

import errno
import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from clawmem.adapters.files.disk import flush_folder, write_draft
from clawmem.ports.errors import VaultFull, VaultReadOnly
from clawmem.ports.journal import ForgottenPlace


class ForgetFile:
    """``ForgetLog`` in one file that only its owner can read: a JSON line for each place. Other lines are skipped."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)

    @property
    def location(self) -> str:
        return str(self._path)

    def read(self) -> list[ForgottenPlace]:
        try:
            lines = self._path.read_bytes().splitlines()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise VaultReadOnly(self.location) from error
        places: dict[tuple[str, str], ForgottenPlace] = {}
        for line in lines:
            with suppress(ValueError, RecursionError, TypeError):
                place = ForgottenPlace(**json.loads(line))
                if all(isinstance(value, str) for value in place):
                    places.setdefault((place.collection, place.path), place)
        return list(places.values())

    def write(self, places: Iterable[ForgottenPlace]) -> None:
        text = "".join(f"{json.dumps(place._asdict())}\n" for place in places)
        draft = self._path.with_name(f"{self._path.name}.draft")
        try:
            write_draft(draft, text.encode(), 0o600)
            draft.replace(self._path)
            flush_folder(self._path.parent)
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
            raise (VaultFull if full else VaultReadOnly)(self.location) from error
