"""Replacement of a vault file by a new one; the old file is kept under another name."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import apsw

from clawmem.adapters.sqlite.connections import open_writer
from clawmem.adapters.sqlite.empty_file import is_empty
from clawmem.ports.errors import VaultError, VaultLocked


@contextmanager
def held(path: str) -> Iterator[None]:
    """
    Lock the vault at *path* against other writers for the block, as far as its damage allows, without
    changing it.

    Raises:
        VaultLocked: another process is writing.
    """
    if is_empty(path):
        yield
        return
    connection = None
    try:
        with suppress(apsw.Error):
            connection = open_writer(path)
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            _begin(connection, path)
        yield
    finally:
        if connection:
            with suppress(apsw.Error):
                connection.close()


def _begin(connection: apsw.Connection, path: str) -> None:
    try:
        connection.execute("begin immediate")
    except (apsw.BusyError, apsw.LockedError) as error:
        raise VaultLocked(path) from error


def exchange(vault: str, new: str, kept: str) -> None:
    """
    Replace *vault* by the file *new*, and keep the old file and its log as *kept*.

    The old file exists under both names until the new file takes its place.

    Raises:
        VaultError: nothing was replaced.
    """
    log, kept_log = Path(f"{vault}-wal"), Path(f"{kept}-wal")
    try:
        _second_name(vault, kept)
        if log.exists():
            log.replace(kept_log)  # otherwise SQLite would replay it into the new file
        Path(f"{vault}-shm").unlink(missing_ok=True)
        Path(new).replace(vault)
        _sync_folder(Path(vault).parent)
    except OSError as error:
        with suppress(OSError):
            kept_log.replace(log)
        raise VaultError(
            vault, f"{vault} could not be replaced: {error.strerror}. It is unchanged."
        ) from error


def discard(path: str) -> None:
    """Delete an unused vault and its log."""
    for end in ("", "-wal", "-shm", "-journal"):
        Path(f"{path}{end}").unlink(missing_ok=True)


def _second_name(vault: str, kept: str) -> None:
    try:
        os.link(vault, kept)
    except OSError:  # a file system without hard links
        shutil.copy2(vault, kept)


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # Windows cannot open a folder
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
