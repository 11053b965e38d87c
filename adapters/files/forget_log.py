import errno
import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from clawmem.adapters.files.disk import flush_folder, write_draft
from clawmem.ports.errors import VaultFull, VaultReadOnly
from clawmem.ports.journal import ForgottenPlace, ForgottenText


class ForgetFile:
    """``ForgetLog`` in one file that only its owner can read: a JSON line for each place and text. Other lines are skipped."""

    def __init__(self, path: str) -> None:
        self.location = path
        self._path = Path(path)

    def read(self) -> tuple[list[ForgottenPlace], list[ForgottenText]]:
        places: dict[tuple[str, str], ForgottenPlace] = {}
        texts: list[ForgottenText] = []
        try:
            lines = self._path.read_bytes().splitlines()
        except FileNotFoundError:
            return [], []
        except OSError as error:
            raise VaultReadOnly(self.location) from error
        for line in lines:
            with suppress(ValueError, RecursionError, TypeError, AttributeError):
                values: dict[str, str] = json.loads(line)
                if not all(isinstance(value, str) for value in values.values()):
                    continue
                if "digest" in values:
                    texts.append(ForgottenText(**values))
                else:
                    place = ForgottenPlace(**values)
                    places.setdefault((place.collection, place.path), place)
        return [*places.values()], texts

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
