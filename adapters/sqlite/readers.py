"""Connections that only read, lent to whichever thread of the process reads just now."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias, TypeVar
from weakref import WeakValueDictionary

import apsw

from clawmem.adapters.sqlite.connections import FrozenConnection

MOST_IDLE = 6  # that wait to be lent again; each takes 0.7 MB, and more than four readers seldom work at once

File: TypeAlias = tuple[object, ...]
Made = TypeVar("Made")


class Readers:
    """
    Those of one file. A connection for each thread would be idle most of the time, with a cache and a schema of its own.

    Args:
        open_one: Opens another one.
    """

    def __init__(self, open_one: Callable[[], apsw.Connection]) -> None:
        self._open_one = open_one
        self._idle: list[apsw.Connection] = []
        self._lock = threading.Lock()

    def lend(self, ask: Callable[[apsw.Connection], Made]) -> Made:
        """
        What *ask* makes of one, which nobody else has meanwhile; closed after an error.

        As `lent`, for a fraction of its price: a question asks fifty times.
        """
        connection = self._take()
        try:
            made = ask(connection)
        except BaseException:
            connection.close()
            raise
        self._take_back(connection)
        return made

    @contextmanager
    def lent(self) -> Iterator[apsw.Connection]:
        """One for the length of a block, and for nobody else meanwhile; closed after an error."""
        connection = self._take()
        try:
            yield connection
        except Exception:
            connection.close()
            raise
        except BaseException:  # a stream that is left early
            self._take_back(connection)
            raise
        self._take_back(connection)

    def _take(self) -> apsw.Connection:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return self._open_one()

    def _take_back(self, connection: apsw.Connection) -> None:
        with self._lock:
            if len(self._idle) < MOST_IDLE and not isinstance(connection, FrozenConnection):
                self._idle.append(connection)
                return
        connection.close()


# No longer than somebody has them: with the last one who does their connections close.
_SHARED: WeakValueDictionary[File, Readers] = WeakValueDictionary()
_SHARING = threading.Lock()


def readers_of(file: File, open_one: Callable[[], apsw.Connection]) -> Readers:
    """Those of *file*, for everybody who asks; *open_one* opens it."""
    with _SHARING:
        return _SHARED.setdefault(file, Readers(open_one))
