from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock, Thread
from typing import Any, TypeVar
from urllib.parse import SplitResult, urlsplit

from clawmem.adapters.http.addresses import is_address, shown
from clawmem.ports.errors import ConfigError, ExtraMissing


class TransportFailure(Exception):
    """No complete response: refused, unreachable, unknown host, timeout, broken connection, or closed client."""


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


MAX_BODY = 64 * 1024 * 1024  # bytes; a response with fifty vectors of 4096 numbers as text has 5 MB

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})

Answer = TypeVar("Answer")


class ResponseTooLarge(Exception):
    """The response exceeds the maximum size."""


class ConnectionBroken(TransportFailure):
    """The connection ended before the response was complete, as happens after a long idle time."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A response with any status; header names are lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Exchange:
    """HTTP requests over persistent connections; thread-safe."""

    def __init__(self, url: str, api_key: str | None = None) -> None:
        """
        Check the address; the client is created with the first request.

        Args:
            url: User, password and query of the URL are sent with every request.

        Raises:
            ConfigError: *url* is no HTTP address, or *api_key* contains invalid characters.
        """
        self._parts = _web_address(url)
        self.base_url = shown(url).rstrip("/")
        self._api_key = _sendable(api_key)
        self._connections = Connections(self._new_client)

    @property
    def is_local(self) -> bool:
        """Whether the server is on this machine; requests then bypass proxies."""
        return self._parts.hostname in _LOOPBACK

    def send(self, method: str, path: str, content: bytes | None, timeout_s: float) -> Reply:
        """
        Return the response to one request, within *timeout_s*.

        The timeouts of httpx apply to each read and not to name resolution, so a server that sends one byte
        per second would never time out. The request therefore runs in another thread, and the caller stops
        waiting at the timeout.

        Raises:
            TransportFailure: there was no complete response in time, or the client was closed.
            ResponseTooLarge: the response exceeds the maximum size.
        """

        def exchanged() -> Reply:
            with self._connections.lent() as client:
                return _exchanged(client, method, path, content, timeout_s)

        try:
            return _run_in_thread(exchanged).result(timeout_s)
        except TimeoutError as error:
            raise TransportFailure(f"no answer within {timeout_s:.3g} seconds") from error

    def close(self) -> None:
        """Refuse new requests, and close the connections after the current requests."""
        self._connections.close()

    def _new_client(self) -> Any:
        try:
            import httpx2
        except ModuleNotFoundError as error:
            raise ExtraMissing("httpx2", extra="http") from error
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._api_key:
            headers["Authorization"] = f"Bearer {self._api_key}"
        # Loading certificates takes longer than a request to a local server, so plain HTTP skips it.
        is_encrypted = self._parts.scheme == "https"
        try:
            return httpx2.Client(
                base_url=self._parts._replace(query="", fragment="").geturl(),
                params=self._parts.query,
                headers=headers,
                trust_env=not self.is_local,
                verify=is_encrypted,
            )
        # the text of the error may contain a password
        except (ValueError, OSError, httpx2.InvalidURL) as error:
            raise ConfigError(
                "The proxy or the certificates that the environment names for model servers cannot be used. "
                "Correct HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, SSL_CERT_FILE and SSL_CERT_DIR."
            ) from error


def _web_address(url: str) -> SplitResult:
    if not is_address(url) or urlsplit(url).scheme not in ("http", "https"):
        raise ConfigError(
            f"{shown(url)!r} is not the address of a model server. Write it like http://localhost:8088"
        )
    return urlsplit(url)


def _sendable(api_key: str | None) -> str:
    key = (api_key or "").strip()
    if key and not (key.isascii() and key.isprintable()):
        raise ConfigError("The API key contains invalid characters. Copy it again.")
    return key


def _exchanged(client: Any, method: str, path: str, content: bytes | None, timeout_s: float) -> Reply:
    import httpx2

    until = time.monotonic() + timeout_s
    try:
        with client.stream(method, path, content=content, timeout=timeout_s) as response:
            body = _body(response, until)
            return Reply(response.status_code, dict(response.headers), body)
    except httpx2.TimeoutException as error:
        raise TransportFailure(f"no answer within {timeout_s:.3g} seconds") from error
    except httpx2.ConnectError as error:
        raise TransportFailure(_reason(error, "the connection was refused or failed")) from error
    except (httpx2.NetworkError, httpx2.RemoteProtocolError) as error:
        raise ConnectionBroken(_reason(error, "the connection broke off")) from error
    except httpx2.HTTPError as error:
        raise TransportFailure(_reason(error, type(error).__name__)) from error


def _body(response: Any, until: float) -> bytes:
    pieces: list[bytes] = []
    size = 0
    for piece in response.iter_bytes():
        pieces.append(piece)
        size += len(piece)
        if size > MAX_BODY:
            raise ResponseTooLarge
        if time.monotonic() > until:
            raise TransportFailure("the answer did not end in time")
    return b"".join(pieces)


def _reason(error: Exception, otherwise: str) -> str:
    return str(error).strip().rstrip(".") or otherwise


def _run_in_thread(call: Callable[[], Answer]) -> Future[Answer]:
    # Unlike the threads of a pool, a daemon thread does not keep the process alive while a server hangs.
    future: Future[Answer] = Future()

    def ask() -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # noqa: BLE001 - raised again in the waiting thread
            future.set_exception(error)

    Thread(target=ask, name="model-request", daemon=True).start()
    return future
