"""Files that only their owner may read: the vault holds the text of the notes, and so do the files next to it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_ISDIR, S_ISLNK, S_ISREG

OTHERS = 0o077  # the rights of everybody but the owner; as a umask it withholds them from new files
_BESIDE = ("-wal", "-shm", "-journal")


@contextmanager
def private_umask() -> Iterator[None]:
    """Withhold the rights of others from every file that this process creates inside of the block."""
    before = os.umask(OTHERS)
    try:
        yield
    finally:
        os.umask(before)


def files_of_vault(vault: Path) -> Iterator[Path]:
    """Yield *vault*, and the files and folders next to it whose names begin with the name of the vault and a dot."""
    yield from (vault, *(vault.with_name(vault.name + ending) for ending in _BESIDE))
    with suppress(OSError):
        yield from (path for path in vault.parent.iterdir() if path.name.startswith(f"{vault.name}."))


def open_to_others(place: Path) -> Iterator[Path]:
    """Yield *place* and what lies below it, as far as other users have rights to it; links are not followed."""
    if os.name == "nt":  # pragma: no cover  rights are inherited from the folder of the user
        return
    waiting = [place]
    while waiting:
        path = waiting.pop()
        with suppress(OSError):  # gone by now
            mode = path.lstat().st_mode
            if S_ISLNK(mode):
                continue
            if mode & OTHERS and (S_ISDIR(mode) or S_ISREG(mode)):
                yield path
            if S_ISDIR(mode):
                waiting.extend(path.iterdir())


def make_private(place: Path) -> tuple[list[Path], list[Path]]:
    """Take the rights of others from *place* and what lies below it; return what was changed, and what could not be."""
    changed: list[Path] = []
    failed: list[Path] = []
    for path in open_to_others(place):
        try:
            path.chmod(path.lstat().st_mode & 0o7700)
        except OSError:
            if path.exists():
                failed.append(path)
        else:
            changed.append(path)
    return changed, failed
