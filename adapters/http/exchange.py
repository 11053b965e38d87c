from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from threading import Thread
from typing import Any, TypeVar
from urllib.parse import SplitResult, urlsplit

from clawmem.adapters.http.addresses import is_address, shown
from clawmem.adapters.http.connections import Connections, TransportFailure
from clawmem.ports.errors import ConfigError, ExtraMissing

MAX_BODY = 64 * 1024 * 1024  # bytes; fifty vectors of 4096 numbers, written out, are 5 MB

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})

Answer = TypeVar("Answer")


class Oversized(Exception):
    """A reply that goes on and on."""


class BrokenOff(TransportFailure):
    """The connection ended before the reply did; so does one that had been idle for too long."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back, whatever it says; header names are lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Exchange:
    """One request and its reply at a time, over connections that are kept open; safe to use from threads."""

    def __init__(self, url: str, api_key: str | None = None) -> None:
        """
        Args:
            url: A user with a password in it, or a query, goes with every request.

        Raises:
            ConfigError: *url* is no address of a web server, or *api_key* cannot be sent.
        """
        self._parts = _web_address(url)
        self.base_url = shown(url).rstrip("/")
        self._api_key = _sendable(api_key)
        self._connections = Connections(self._new_client)

    @property
    def is_local(self) -> bool:
        """Whether the server is on this machine; it is then asked without a proxy."""
        return self._parts.hostname in _LOOPBACK

    def send(self, method: str, path: str, content: bytes | None, timeout_s: float) -> Reply:
        """
        The reply to one request, within *timeout_s*.

        The library's time-outs hold for each single read and for no look-up of a name, so that a server that
        sends a byte a second would never be too slow for them; the request is therefore made aside and not
        waited for beyond its time.

        Raises:
            TransportFailure: no whole reply in time, or it was closed.
            Oversized: more of it than anything could mean.
        """

        def exchanged() -> Reply:
            with self._connections.lent() as client:
                return _exchanged(client, method, path, content, timeout_s)

        try:
            return _asked_aside(exchanged).result(timeout_s)
        except TimeoutError as error:
            raise TransportFailure(f"no answer within {timeout_s:.3g} seconds") from error

    def close(self) -> None:
        """Close the connections, once the requests that are under way have ended; nothing can be asked any more."""
        self._connections.close()

    def _new_client(self) -> Any:
        try:
            import httpx2
        except ModuleNotFoundError as error:
            raise ExtraMissing("httpx2", extra="http") from error
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._api_key:
            headers["Authorization"] = f"Bearer {self._api_key}"
        # Certificates take longer to load than a question to a server of one's own takes.
        is_encrypted = self._parts.scheme == "https"
        try:
            return httpx2.Client(
                base_url=self._parts._replace(query="", fragment="").geturl(),
                params=self._parts.query,
                headers=headers,
                trust_env=not self.is_local,
                verify=is_encrypted,
            )
        except (ValueError, OSError, httpx2.InvalidURL) as error:  # whose words may hold a password
            raise ConfigError(
                "The proxy or the certificates that the environment names for model servers cannot be used. "
                "Correct HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, SSL_CERT_FILE and SSL_CERT_DIR."
            ) from error


def _web_address(url: str) -> SplitResult:
    if not is_address(url) or urlsplit(url).scheme not in ("http", "https"):
        raise ConfigError(
            f"{shown(url)!r} is no address of a model server. Write it like http://localhost:8088"
        )
    return urlsplit(url)


def _sendable(api_key: str | None) -> str:
    key = (api_key or "").strip()
    if key and not (key.isascii() and key.isprintable()):
        raise ConfigError("The API key holds characters that no key has. Copy it once more.")
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
        raise TransportFailure(_reason(error, "it cannot be connected to")) from error
    except (httpx2.NetworkError, httpx2.RemoteProtocolError) as error:
        raise BrokenOff(_reason(error, "the connection broke off")) from error
    except httpx2.HTTPError as error:
        raise TransportFailure(_reason(error, type(error).__name__)) from error


def _body(response: Any, until: float) -> bytes:
    pieces: list[bytes] = []
    size = 0
    for piece in response.iter_bytes():
        pieces.append(piece)
        size += len(piece)
        if size > MAX_BODY:
            raise Oversized
        if time.monotonic() > until:
            raise TransportFailure("the answer did not end in time")
    return b"".join(pieces)


def _reason(error: Exception, otherwise: str) -> str:
    return str(error).strip().rstrip(".") or otherwise


def _asked_aside(call: Callable[[], Answer]) -> Future[Answer]:
    # A daemon, unlike the threads of a pool, does not keep the process alive while a server hangs.
    future: Future[Answer] = Future()

    def ask() -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # noqa: BLE001 - raised again by whoever waits for the answer
            future.set_exception(error)

    Thread(target=ask, name="model-request", daemon=True).start()
    return future
