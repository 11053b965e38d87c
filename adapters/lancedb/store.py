from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar

from clawmem.adapters.lancedb.quick_table import quick_table
from clawmem.adapters.lancedb.translation import translated
from clawmem.ports.backend import IndexPlace
from clawmem.ports.errors import BackendUnavailable, IndexUnavailable

# seconds within which an object store must answer the first request, or it counts as unreachable
ANSWER_WITHIN = 3.0
_PASSED_ON = ("endpoint", "region", "access_key_id", "secret_access_key", "session_token", "allow_http")
# After the first answer, failed requests are retried, but not for LanceDB's default of three minutes.
_PATIENCE = {
    "connect_timeout": "2s",
    "timeout": "10s",
    "client_max_retries": "2",
    "client_retry_timeout": "5s",
}

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class TableStore:
    """Location of the tables of one generation of an index, with the options to open it."""

    uri: str
    options: Mapping[str, str] = field(default_factory=dict)
    answer_within: float = ANSWER_WITHIN

    @property
    def is_remote(self) -> bool:
        """Whether the tables are in an object store instead of a folder."""
        return "://" in self.uri

    def connect(self) -> Any:
        """
        Return a connection of LanceDB.

        Raises:
            BackendUnavailable, IndexUnavailable, IndexDamaged.
        """
        engine = _engine()
        return self.reached(lambda: engine.connect(self.uri, storage_options=dict(self.options) or None))

    def reached(self, call: Callable[[], Answer]) -> Answer:
        """
        Return the result of *call*, a short request that comes before longer ones and must answer in time.

        LanceDB retries a hanging store for half a minute, so the caller waits only `answer_within` seconds.
        Such a request writes nothing, and a later result is discarded.
        """
        with translated(self.uri):
            if not self.is_remote:
                return call()
            try:
                return _run_in_thread(call).result(self.answer_within)
            except TimeoutError as error:
                reason = f"no good answer within {self.answer_within:g} seconds"
                raise IndexUnavailable(self.uri, reason) from error

    def table(self, name: str) -> Any:
        """Open the table of that name at its latest version; raise `IndexDamaged` if there is no usable one."""
        connection = self.connect()
        return self.reached(lambda: connection.open_table(name))

    def table_to_read(self, name: str) -> Any:
        """Open the table for reading, without LanceDB's package if possible."""
        if self.is_remote:
            return self.table(name)
        with translated(self.uri):
            return quick_table(self.uri, name) or self.table(name)

    def exists(self) -> bool:
        """Whether the tables may exist; for an object store this is always true, because only a request can tell."""
        return self.is_remote or Path(self.uri).is_dir()

    def discard(self, names: tuple[str, ...]) -> None:
        """Delete the tables of these names permanently, even if they are damaged."""
        if not self.is_remote:
            shutil.rmtree(self.uri, ignore_errors=True)
            return
        connection = self.connect()
        for name in names:
            with translated(self.uri):
                connection.drop_table(name, ignore_missing=True)


def store_of(place: IndexPlace) -> TableStore:
    """Return the store of *place*: its folder, or its name below the ``uri`` of its options."""
    options = place.options
    if not options.get("uri"):
        return TableStore(place.folder)
    uri = f"{options['uri'].rstrip('/')}/{place.name}"
    passed_on = {name: options[name] for name in _PASSED_ON if options.get(name)}
    if passed_on.get("endpoint", "").startswith("http://"):
        passed_on.setdefault("allow_http", "true")
    within = float(options.get("timeout") or ANSWER_WITHIN)
    return TableStore(uri, {**_PATIENCE, **passed_on} if "://" in uri else {}, within)


def _engine() -> Any:
    import os

    # LanceDB logs to standard error by default, which belongs to the user; errors are raised as exceptions.
    os.environ.setdefault("LANCEDB_LOG", "error")
    try:
        import lancedb
    except ModuleNotFoundError as error:
        raise BackendUnavailable("lancedb", extra="lancedb") from error
    return lancedb


def _run_in_thread(call: Callable[[], Answer]) -> Future[Answer]:
    # Unlike the threads of a pool, a daemon thread does not keep the process alive while the store hangs.
    future: Future[Answer] = Future()

    def ask() -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # noqa: BLE001 - raised again in the waiting thread
            future.set_exception(error)

    Thread(target=ask, name="lancedb-reach", daemon=True).start()
    return future
