"""The place of LanceDB tables, and the translation of LanceDB's errors."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import lancedb

from clawmem.ports.errors import IndexBusy, IndexDamaged, IndexUnavailable, VaultError, VaultFull
from clawmem.ports.indexes import IndexPlace

# LanceDB logs to standard error by default, which belongs to the user; errors are raised as exceptions.
os.environ.setdefault("LANCEDB_LOG", "error")

# LanceDB's default for a request to an object store is three minutes.
_TIMEOUTS = {
    "connect_timeout": "2s",
    "timeout": "5s",
    "client_max_retries": "1",
    "client_retry_timeout": "5s",
}
# LanceDB raises RuntimeError, ValueError or OSError for everything; only the message tells the cause.
_ABSENT = re.compile(r"^Table '.*' was not found")
_CONFLICT = re.compile(r"conflict|concurrent(ly)? (writer|modif)", re.IGNORECASE)
_FULL = re.compile(r"no space left|storage full|quota exceeded", re.IGNORECASE)
_UNAVAILABLE = re.compile(
    r"RetryError|HttpError|error sending request|timed out|permission ?denied|unauthenticated|forbidden"
    r"|status code: 5\d\d|\bstatus: (5\d\d|403|401)|connection (refused|reset)|too many open files",
    re.IGNORECASE,
)
_SOURCE_LINE = re.compile(r",? ?/\S{1,300}?\.rs:\d+(:\d+)?")
_LONGEST_REASON = 200  # characters of LanceDB's message


@dataclass(frozen=True, slots=True)
class TableStore:
    """A folder or an object store with the tables of one generation of an index."""

    uri: str
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_remote(self) -> bool:
        """Whether the tables are in an object store instead of a folder."""
        return "://" in self.uri

    def connect(self) -> Any:
        """Return a connection of LanceDB. Raises `IndexUnavailable` if the store does not answer."""
        with translated(self.uri):
            return lancedb.connect(self.uri, storage_options=dict(self.options) or None)

    def discard(self) -> None:
        """Delete all tables permanently, even if they are damaged."""
        if not self.is_remote:
            shutil.rmtree(self.uri, ignore_errors=True)
            return
        with translated(self.uri):
            self.connect().drop_all_tables()


def store_at(place: IndexPlace) -> TableStore:
    """
    Return the store of *place*: its folder, or its name below the ``uri`` of its options.

    All other options are passed to LanceDB, such as ``timeout``, which is that of a request.
    """
    options = place.options
    if not options.get("uri"):
        return TableStore(place.folder)
    uri = f"{options['uri'].rstrip('/')}/{place.name}"
    if "://" not in uri:
        return TableStore(uri)
    storage = _TIMEOUTS | {name: value for name, value in options.items() if name != "uri"}
    if storage.get("endpoint", "").startswith("http://"):
        storage.setdefault("allow_http", "true")
    return TableStore(uri, storage)


def is_absence(error: BaseException) -> bool:
    """Whether *error* says that the table does not exist, as opposed to a damaged table."""
    return bool(_ABSENT.search(str(error.__cause__ or error)))


@contextmanager
def translated(uri: str) -> Iterator[None]:
    """Raise LanceDB's errors inside the block as errors of the ports, for the tables at *uri*."""
    try:
        yield
    except VaultError:
        raise
    except (RuntimeError, ValueError, OSError) as error:
        message = str(error)
        if _CONFLICT.search(message):
            raise IndexBusy(uri) from error
        if _FULL.search(message):
            raise VaultFull(uri) from error
        reason = " ".join(_SOURCE_LINE.sub("", message).split())[:_LONGEST_REASON]
        raise (IndexUnavailable if _UNAVAILABLE.search(message) else IndexDamaged)(uri, reason) from error
    except BaseException as error:
        # LanceDB panics on invalid bytes; one of the two exceptions does not derive from Exception.
        if type(error).__name__ not in ("RustPanic", "PanicException"):
            raise
        raise IndexDamaged(uri, "its files are damaged") from error
