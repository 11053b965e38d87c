"""Permissions of private files: the vault and the files next to it contain the text of the notes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_ISDIR, S_ISLNK, S_ISREG

OTHERS = 0o077  # the permissions of all users but the owner; as a umask it removes them from new files
_BESIDE = ("-wal", "-shm", "-journal")


@contextmanager
def private_umask() -> Iterator[None]:
    """Remove the permissions of other users from every file that this process creates inside the block."""
    before = os.umask(OTHERS)
    try:
        yield
    finally:
        os.umask(before)


def files_of_vault(vault: Path) -> Iterator[Path]:
    """
    Yield *vault*, its SQLite side files, and the files and folders named like the vault plus a dot and a suffix.
    """
    yield from (vault, *(vault.with_name(vault.name + ending) for ending in _BESIDE))
    with suppress(OSError):
        yield from (path for path in vault.parent.iterdir() if path.name.startswith(f"{vault.name}."))


def open_to_others(place: Path) -> Iterator[Path]:
    """
    Yield *place* and its content as far as other users have permissions on them; symbolic links are not followed.
    """
    if os.name == "nt":  # pragma: no cover  permissions are inherited from the user's folder
        return
    waiting = [place]
    while waiting:
        path = waiting.pop()
        with suppress(OSError):  # already deleted
            mode = path.lstat().st_mode
            if S_ISLNK(mode):
                continue
            if mode & OTHERS and (S_ISDIR(mode) or S_ISREG(mode)):
                yield path
            if S_ISDIR(mode):
                waiting.extend(path.iterdir())


def make_private(place: Path) -> tuple[list[Path], list[Path]]:
    """Remove the permissions of others from *place* and its content; return the changed and the failed paths."""
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
