from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any


class TransportFailure(Exception):
    """No whole reply: refused, unreachable, unknown host, too slow, broken off, or closed."""


class Connections:
    """
    The library's client: made for the first request, and closed by whoever comes last.

    A request that nobody waits for any more may still be connecting when its owner closes everything. The client
    cannot take that connection back, so it is left open until that request has ended, and closed by it.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._lock = Lock()
        self._client: Any = None
        self._lent = 0
        self._is_closed = False

    @contextmanager
    def lent(self) -> Iterator[Any]:
        """The client, for one request. Raises `TransportFailure` once it was closed."""
        client = self._taken()
        try:
            yield client
        finally:
            self._let_go(1)

    def close(self) -> None:
        """Lend the client to nobody any more."""
        with self._lock:
            self._is_closed = True
        self._let_go(0)

    def _taken(self) -> Any:
        with self._lock:
            if self._is_closed:
                raise TransportFailure("it was closed")
            self._client = self._client or self._make()
            self._lent += 1
            return self._client

    def _let_go(self, given_back: int) -> None:
        with self._lock:
            self._lent -= given_back
            if self._lent or not self._is_closed:
                return
            client, self._client = self._client, None
        if client is not None:
            client.close()
