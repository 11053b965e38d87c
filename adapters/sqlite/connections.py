"""SQLite connections: how they are opened, and their busy handler."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, TypeAlias

import apsw

from clawmem.ports.errors import ExtensionMissing

Row: TypeAlias = tuple[Any, ...]
Bindings: TypeAlias = Sequence[Any] | Mapping[str, Any]

BUSY_TIMEOUT_S = 10.0
# Seven vectors of a kilobyte fit a page of 8 kB, and three fit one of 4 kB, SQLite's default, a fifth of which is unused.
# A vault with few notes has a page for each of a hundred tables and indexes, so pages are not larger.
PAGE_SIZE = 8192
# SQLite's default is 2000; there are several readers, and the operating system caches the file as well
READER_CACHE_KB = 512
# Indexing a note takes about 110 different statements. With the default of 100, a tenth of them were prepared for each note.
_PREPARED_STATEMENTS = 256


class FrozenConnection(apsw.Connection):
    """A connection to an immutable file. It sees no later change, so it serves a single read."""


def open_reader(path: str) -> apsw.Connection:
    """
    Open a read-only connection.

    If SQLite cannot create a write-ahead log because the disk is full or read-only, a file whose log is
    missing or empty is opened as immutable.
    """
    try:
        connection = _connection(path, apsw.SQLITE_OPEN_READONLY)
        connection.execute("pragma schema_version")
    except (apsw.IOError, apsw.FullError, apsw.CantOpenError, apsw.ReadOnlyError):
        if not os.path.isfile(path) or not log_is_empty(path):  # noqa: PTH113
            raise
        connection = _frozen(path)
    connection.pragma("cache_size", -READER_CACHE_KB)
    return connection


def log_is_empty(path: str) -> bool:
    """Whether the write-ahead log of the vault at *path* is empty or does not exist."""
    try:
        return os.stat(f"{path}-wal").st_size == 0  # noqa: PTH116  avoids importing `pathlib` for every prompt
    except FileNotFoundError:
        return True


def _frozen(path: str) -> apsw.Connection:
    from urllib.parse import quote

    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    connection = FrozenConnection(f"file:{quote(os.path.abspath(path))}?immutable=1", flags=flags)  # noqa: PTH100
    load_sqlite_vec(connection)
    return connection


def open_writer(path: str) -> apsw.Connection:
    """Open a writer connection, and create the file if it does not exist."""
    is_new = not os.path.exists(path) or not os.path.getsize(path)  # noqa: PTH110, PTH202  avoids importing `pathlib`
    connection = _connection(path, apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
    if is_new:
        connection.pragma("page_size", PAGE_SIZE)
    connection.pragma("foreign_keys", True)
    connection.pragma("synchronous", "full")
    return connection


def busy_handler() -> Callable[[int], bool]:
    """
    Return a busy handler that waits with jitter.

    SQLite's own back-off can make one of several writers starve for seconds.
    """
    since = 0.0

    def wait(attempts: int) -> bool:
        nonlocal since
        import random  # importing random also loads OpenSSL, and most processes never wait

        since = time.monotonic() if attempts == 0 else since
        if time.monotonic() - since > BUSY_TIMEOUT_S:
            return False
        time.sleep(random.uniform(0.0005, 0.004))
        return True

    return wait


def _connection(path: str, flags: int) -> apsw.Connection:
    connection = apsw.Connection(path, flags=flags, statementcachesize=_PREPARED_STATEMENTS)
    # The busy handler comes first, because the next statements may have to wait.
    connection.set_busy_handler(busy_handler())
    load_sqlite_vec(connection)
    return connection


def load_sqlite_vec(connection: apsw.Connection) -> None:
    """
    Load the extension that reads the vectors of a vault.

    Raises:
        ExtensionMissing: the package is not installed, or its library does not fit this platform.
    """
    # Importing the package would import numpy, which takes longer than a search.
    package = find_spec("sqlite_vec")
    if package is None or not package.origin:
        raise ExtensionMissing(connection.filename, "the package sqlite-vec is not installed")
    try:
        connection.enable_load_extension(True)
        connection.load_extension(os.path.join(os.path.dirname(package.origin), "vec0"))  # noqa: PTH118, PTH120
        connection.enable_load_extension(False)
    except apsw.ExtensionLoadingError as error:
        raise ExtensionMissing(connection.filename, str(error)) from error
