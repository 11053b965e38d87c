from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any


class TransportFailure(Exception):
    """
    No complete response: refused, unreachable, unknown host, timeout, broken connection, or closed client.
    """


class Connections:
    """
    The HTTP client, created for the first request and closed with the last one after `close`.

    An abandoned request may still be connecting when its owner closes everything. The client cannot cancel
    that connection, so the client stays open until the request has ended, which then closes it.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._lock = Lock()
        self._client: Any = None
        self._lent = 0
        self._is_closed = False

    @contextmanager
    def lent(self) -> Iterator[Any]:
        """Lend the client for one request. Raises `TransportFailure` after `close`."""
        client = self._acquire()
        try:
            yield client
        finally:
            self._release(1)

    def close(self) -> None:
        """Refuse new requests, and close the client when the last request ends."""
        with self._lock:
            self._is_closed = True
        self._release(0)

    def _acquire(self) -> Any:
        with self._lock:
            if self._is_closed:
                raise TransportFailure("it was closed")
            self._client = self._client or self._make()
            self._lent += 1
            return self._client

    def _release(self, given_back: int) -> None:
        with self._lock:
            self._lent -= given_back
            if self._lent or not self._is_closed:
                return
            client, self._client = self._client, None
        if client is not None:
            client.close()
