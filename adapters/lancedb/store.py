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

ANSWER_WITHIN = 3.0  # seconds that an object store has to answer at all before it counts as out of reach
_PASSED_ON = ("endpoint", "region", "access_key_id", "secret_access_key", "session_token", "allow_http")
# Once a store has answered, a request that goes astray is tried again, but not for the library's three minutes.
_PATIENCE = {
    "connect_timeout": "2s",
    "timeout": "10s",
    "client_max_retries": "2",
    "client_retry_timeout": "5s",
}

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Store:
    """Where the tables of one generation of one index lie, and how to get there."""

    uri: str
    options: Mapping[str, str] = field(default_factory=dict)
    answer_within: float = ANSWER_WITHIN

    @property
    def is_remote(self) -> bool:
        """Whether it lies in an object store instead of a folder."""
        return "://" in self.uri

    def connect(self) -> Any:
        """
        A connection of the engine's.

        Raises:
            BackendUnavailable, IndexUnavailable, IndexDamaged.
        """
        engine = _engine()
        return self.reached(lambda: engine.connect(self.uri, storage_options=dict(self.options) or None))

    def reached(self, call: Callable[[], Answer]) -> Answer:
        """
        What a short question to the store answers; asked before everything that may rightly take longer.

        The engine keeps asking a store that hangs for half a minute, so it is not waited for beyond the time
        that a store has to answer. Nothing is written by such a question, and whatever comes of it later is dropped.
        """
        with translated(self.uri):
            if not self.is_remote:
                return call()
            try:
                return _asked_aside(call).result(self.answer_within)
            except TimeoutError as error:
                reason = f"no good answer within {self.answer_within:g} seconds"
                raise IndexUnavailable(self.uri, reason) from error

    def table(self, name: str) -> Any:
        """The table of that name, as it is now; raises `IndexDamaged` when there is none that can be used."""
        connection = self.connect()
        return self.reached(lambda: connection.open_table(name))

    def table_to_read(self, name: str) -> Any:
        """The same for who only reads."""
        if self.is_remote:
            return self.table(name)
        with translated(self.uri):
            return quick_table(self.uri, name) or self.table(name)

    def exists(self) -> bool:
        """Whether there may be something; of an object store nothing is known before it is asked."""
        return self.is_remote or Path(self.uri).is_dir()

    def discard(self, names: tuple[str, ...]) -> None:
        """Delete the tables of these names for good, whatever their state."""
        if not self.is_remote:
            shutil.rmtree(self.uri, ignore_errors=True)
            return
        connection = self.connect()
        for name in names:
            with translated(self.uri):
                connection.drop_table(name, ignore_missing=True)


def store_of(place: IndexPlace) -> Store:
    """The store of a place: its folder, or its name below the ``uri`` of the options."""
    options = place.options
    if not options.get("uri"):
        return Store(place.folder)
    uri = f"{options['uri'].rstrip('/')}/{place.name}"
    passed_on = {name: options[name] for name in _PASSED_ON if options.get(name)}
    if passed_on.get("endpoint", "").startswith("http://"):
        passed_on.setdefault("allow_http", "true")
    within = float(options.get("timeout") or ANSWER_WITHIN)
    return Store(uri, {**_PATIENCE, **passed_on} if "://" in uri else {}, within)


def _engine() -> Any:
    import os

    # The engine reports its routine on standard error, which belongs to the user; errors come as exceptions.
    os.environ.setdefault("LANCEDB_LOG", "error")
    try:
        import lancedb
    except ModuleNotFoundError as error:
        raise BackendUnavailable("lancedb", extra="lancedb") from error
    return lancedb


def _asked_aside(call: Callable[[], Answer]) -> Future[Answer]:
    # A daemon, unlike the threads of a pool, does not keep the process alive while the store hangs.
    future: Future[Answer] = Future()

    def ask() -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # noqa: BLE001 - raised again by whoever waits for the answer
            future.set_exception(error)

    Thread(target=ask, name="lancedb-reach", daemon=True).start()
    return future
