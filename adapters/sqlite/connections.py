"""How SQLite is opened, and how it waits."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import apsw

BUSY_TIMEOUT_S = 10.0
READER_CACHE_KB = 512  # of SQLite's own 2000: there are several, and the system caches the file as well


class FrozenConnection(apsw.Connection):
    """One to a file that nothing can be written beside: it sees no change, and is for one question."""


def open_reader(path: str, vectors: bool) -> apsw.Connection:
    """
    One that only reads, with the vector extension if *vectors* and if it can be loaded.

    Where no log can be made, because the disk is full or cannot be written, a file without one is read as it is.
    """
    try:
        connection = _connection(path, apsw.SQLITE_OPEN_READONLY)
        connection.execute("pragma schema_version")
    except (apsw.IOError, apsw.FullError, apsw.CantOpenError, apsw.ReadOnlyError):
        if not os.path.isfile(path) or not log_is_empty(path):  # noqa: PTH113
            raise
        connection = _frozen(path)
    connection.pragma("cache_size", -READER_CACHE_KB)
    if vectors:
        load_vectors(connection)
    return connection


def log_is_empty(path: str) -> bool:
    """Whether the vault at *path* has nothing in its log, or no log at all."""
    try:
        return os.stat(f"{path}-wal").st_size == 0  # noqa: PTH116  a prompt would load `pathlib` for it
    except FileNotFoundError:
        return True


def _frozen(path: str) -> apsw.Connection:
    from urllib.parse import quote

    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    return FrozenConnection(f"file:{quote(os.path.abspath(path))}?immutable=1", flags=flags)  # noqa: PTH100


def open_writer(path: str) -> apsw.Connection:
    """One that makes the file where there is none."""
    connection = _connection(path, apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
    connection.pragma("synchronous", "full")
    return connection


def patience() -> Callable[[int], bool]:
    """Wait with jitter: SQLite's own back-off lets one of several writers starve for seconds."""
    since = 0.0

    def wait(attempts: int) -> bool:
        nonlocal since
        import random  # and with it OpenSSL: most never wait

        since = time.monotonic() if attempts == 0 else since
        if time.monotonic() - since > BUSY_TIMEOUT_S:
            return False
        time.sleep(random.uniform(0.0005, 0.004))
        return True

    return wait


def knows_vectors(connection: apsw.Connection) -> bool:
    """Whether the vector extension was loaded."""
    try:
        connection.execute("select vec_version()")
    except apsw.SQLError:
        return False
    return True


def load_vectors(connection: apsw.Connection) -> bool:
    """Load vec0 by its path; importing its Python package would import numpy for one helper of it."""
    from importlib.util import find_spec

    spec = find_spec("sqlite_vec")
    if spec is None or not spec.submodule_search_locations:
        return False
    try:
        connection.enable_load_extension(True)
        connection.load_extension(f"{spec.submodule_search_locations[0]}/vec0", "sqlite3_vec_init")
    except apsw.Error:
        return False
    finally:
        connection.enable_load_extension(False)
    return True


def _connection(path: str, flags: int) -> apsw.Connection:
    connection = apsw.Connection(path, flags=flags)
    # First the waiting, then everything that may have to wait.
    connection.set_busy_handler(patience())
    connection.pragma("foreign_keys", True)
    return connection
