import errno
import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from clawmem.adapters.files.disk import flush_folder, write_draft
from clawmem.ports.errors import VaultFull, VaultReadOnly
from clawmem.ports.journal import ForgottenPlace, ForgottenText

Record = TypeVar("Record", ForgottenPlace, ForgottenText)


class ForgetFile:
    """``ForgetLog`` in one file that only its owner can read: a JSON line for each place and text. Other lines are skipped."""

    def __init__(self, path: str) -> None:
        self.location = path
        self._path = Path(path)

    def read(self) -> list[ForgottenPlace]:
        places: dict[tuple[str, str], ForgottenPlace] = {}
        for place in self._records(ForgottenPlace):
            places.setdefault((place.collection, place.path), place)
        return list(places.values())

    def texts(self) -> list[ForgottenText]:
        return self._records(ForgottenText)

    def _records(self, kind: type[Record]) -> list[Record]:
        try:
            lines = self._path.read_bytes().splitlines()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise VaultReadOnly(self.location) from error
        records = []
        for line in lines:
            with suppress(ValueError, RecursionError, TypeError):
                record = kind(**json.loads(line))
                if all(isinstance(value, str) for value in record):
                    records.append(record)
        return records

    def write(self, places: Iterable[ForgottenPlace], texts: Iterable[ForgottenText]) -> None:
        records = [*(place._asdict() for place in places), *(text._asdict() for text in texts)]
        lines = "".join(f"{json.dumps(record)}\n" for record in records)
        draft = self._path.with_name(f"{self._path.name}.draft")
        try:
            write_draft(draft, lines.encode(), 0o600)
            draft.replace(self._path)
            flush_folder(self._path.parent)
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
            raise (VaultFull if full else VaultReadOnly)(self.location) from error
