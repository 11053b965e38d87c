"""JSON requests to one model server: an httpx2 client with retries and a circuit breaker."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import suppress
from datetime import UTC
from email.utils import parsedate_to_datetime
from threading import Lock, Thread
from typing import Any, NamedTuple, NoReturn
from urllib.parse import urlsplit

import httpx2
from tenacity import RetryCallState, Retrying, retry_if_exception_type, wait_exponential, wait_random

from clawmem.adapters.http.addresses import is_address, secrets_in, shown
from clawmem.adapters.http.limits import COOL_DOWN_S, CircuitBreaker, Limits, Sleep
from clawmem.ports.clock import Clock
from clawmem.ports.errors import (
    ConfigError,
    InputTooLong,
    ModelAnswerInvalid,
    ModelError,
    ModelRefused,
    ModelUnavailable,
)

MAX_BODY = 64 * 1024 * 1024  # bytes; a response with fifty vectors of 4096 numbers as text has 5 MB
TRIES = 5
FIRST_WAIT_S, LONGEST_WAIT_S = 1.0, 60.0  # between attempts; each is twice as long as the one before
FAIR_S = 0.5  # missing a shorter timeout does not mean that the server is down
EXCERPT = 200  # maximum characters of a server's message

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_LEAST_S = 0.001  # a timeout of zero would mean no timeout
_LATER = frozenset({408, 425, 429, 500, 502, 503, 504, 529})
# These codes come with status 429, which is otherwise temporary.
_OUT_OF_MONEY = ("insufficient_quota", "billing_hard_limit_reached")
_TOO_LONG = re.compile(
    r"too large to process|exceeds? the (?:available|maximum) context|maximum context length"
    r"|exceed_context_size|context_length_exceeded|maximum input length|too many tokens",
    re.IGNORECASE,
)
# Messages of llama.cpp for embeddings and for chat, and of OpenAI.
_TOKEN_COUNTS = (
    re.compile(
        r"\((?P<tokens>\d+) tokens\).{0,300}?(?:batch size: |context size \()(?P<limit>\d+)", re.DOTALL
    ),
    re.compile(r"length is (?P<limit>\d+) tokens.{0,300}?requested (?P<tokens>\d+)", re.DOTALL),
)
_MEANINGS = {
    401: ", the API key is missing or wrong",
    403: ", the API key may not do this",
    404: ", there is no such model or address",
    501: ", the server was not started for this",
}

Json = Mapping[str, Any]


class _Response(NamedTuple):
    status: int
    headers: Mapping[str, str]  # whatever the case of their names
    body: bytes


class Transport:
    """
    JSON requests to one model server over persistent connections; thread-safe.

    All failures are raised as `ModelError`, within the timeout.
    """

    def __init__(
        self, url: str, *, model: str, clock: Clock, api_key: str | None = None, sleep: Sleep = time.sleep
    ) -> None:
        """
        Create the client without connecting.

        Args:
            url: Address without the path of an endpoint, like ``http://localhost:8088``. User, password and
                query are sent with every request.
            model: Name of the model, for error messages only.

        Raises:
            ConfigError: *url* is no HTTP address, *api_key* contains invalid characters, or the environment
                names an invalid proxy or certificate.
        """
        if not is_address(url) or urlsplit(url).scheme not in ("http", "https"):
            raise ConfigError(
                f"{shown(url)!r} is not the address of a model server. Write it like http://localhost:8088"
            )
        key = (api_key or "").strip()
        if not (key.isascii() and key.isprintable()):
            raise ConfigError("The API key contains invalid characters. Copy it again.")
        self.clock = clock
        self.base_url = shown(url).rstrip("/")
        self.label = f"{model!r} at {self.base_url}"
        self._secrets = [secret for secret in (key, *secrets_in(url)) if secret]
        self._sleep = sleep
        self._circuit = CircuitBreaker(clock)
        self._has_answered = False
        self._client = _client(url, key)
        self._lock = Lock()
        self._requests = 0  # that are running
        self._is_closed = False

    def get(self, path: str, limits: Limits) -> Json:
        """Return the JSON object at *path*. Raises the errors of `post`."""
        return self._send("GET", path, None, limits)

    def post(self, path: str, body: Json, limits: Limits) -> Json:
        """
        Send *body* as JSON and return the JSON object of the response.

        Raises:
            ModelUnavailable: the server is unreachable, busy or too slow; raised at once while the circuit is
                open.
            ModelRefused: the server refuses permanently, with `InputTooLong` if the text is too long.
            ModelAnswerInvalid: the response is not a JSON object.
        """
        # UTF-8 cannot encode an unpaired surrogate, which a note may contain.
        content = json.dumps(body, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
        return self._send("POST", path, content, limits)

    def close(self) -> None:
        """Refuse new requests, and close the connections with the last running request."""
        with self._lock:
            self._is_closed = True
            if not self._requests:
                self._client.close()

    def _send(self, method: str, path: str, content: bytes | None, limits: Limits) -> Json:
        if limits.left_s() <= 0:
            raise ModelUnavailable(self.label, "no time is left")
        if left_s := self._circuit.left_s():
            if not limits.background or left_s > limits.longest_wait_s():
                raise ModelUnavailable(self.label, self._circuit.reason, retry_after_s=left_s)
            self._sleep(left_s)
        first_s = FIRST_WAIT_S * (2 if limits.background else 1)
        backoff = wait_exponential(first_s, LONGEST_WAIT_S) + wait_random(0, first_s / 4)

        def wait(state: RetryCallState) -> float:
            asked_s = _failure(state).asked_s
            return backoff(state) if asked_s is None else asked_s

        def stop(state: RetryCallState) -> bool:
            is_last = _failure(state).is_final or state.attempt_number == TRIES
            return is_last or state.upcoming_sleep >= limits.longest_wait_s()

        def give_up(state: RetryCallState) -> NoReturn:
            failure, tries = _failure(state), state.attempt_number
            if failure.rest_s:
                self._circuit.open(failure.reason, failure.rest_s)
            reason = f"{failure.reason}, {tries} times in a row" if tries > 1 else failure.reason
            raise ModelUnavailable(self.label, reason, retry_after_s=failure.rest_s or state.upcoming_sleep)

        attempts = Retrying(
            retry=retry_if_exception_type(_AttemptFailed),
            wait=wait,
            stop=stop,
            sleep=self._sleep,
            retry_error_callback=give_up,
        )
        answer: Json = attempts(self._attempt, method, path, content, limits)
        return answer

    def _attempt(self, method: str, path: str, content: bytes | None, limits: Limits) -> Json:
        given_s = max(_LEAST_S, limits.left_s())
        try:
            try:
                response = self._request(method, path, content, given_s)
            except (httpx2.ReadError, httpx2.WriteError, httpx2.RemoteProtocolError):
                # An idle connection may break at its first use, so a new one is tried.
                response = self._request(method, path, content, max(_LEAST_S, limits.left_s()))
        except (TimeoutError, httpx2.HTTPError) as error:
            is_late = isinstance(error, TimeoutError | httpx2.TimeoutException)
            reason = f"no answer within {given_s:.2g} seconds" if is_late else str(error).strip().rstrip(".")
            raise _AttemptFailed(
                reason or "the connection broke off",
                rest_s=COOL_DOWN_S if given_s >= FAIR_S else 0.0,
                # A server that never answered does not exist, and waiting does not help.
                is_final=not (limits.background and self._has_answered),
            ) from error
        self._circuit.close()
        self._has_answered = True
        return self._answer(response)

    def _request(self, method: str, path: str, content: bytes | None, timeout_s: float) -> _Response:
        """
        Return the response to one request, read within *timeout_s*.

        The timeouts of httpx apply to each read and not to name resolution, so a server that sends one byte
        per second would never time out. The request therefore runs in another thread, and the caller stops
        waiting at the timeout. Unlike the threads of a pool, a daemon thread does not keep the process alive.
        """
        with self._lock:
            if self._is_closed:
                raise ModelUnavailable(self.label, "it was closed")
            self._requests += 1
        until = time.monotonic() + timeout_s
        result: Future[_Response] = Future()

        def run() -> None:
            try:
                with self._client.stream(method, path, content=content, timeout=timeout_s) as response:
                    body = bytearray()
                    for piece in response.iter_bytes():
                        body += piece
                        if len(body) > MAX_BODY:
                            raise ModelAnswerInvalid(self.label, "it is larger than 64 MB")
                        if time.monotonic() > until:
                            raise TimeoutError
                result.set_result(_Response(response.status_code, response.headers, bytes(body)))
            except BaseException as error:  # noqa: BLE001 - raised again in the waiting thread
                result.set_exception(error)
            finally:
                with self._lock:
                    self._requests -= 1
                    if self._is_closed and not self._requests:
                        self._client.close()

        Thread(target=run, name="model-request", daemon=True).start()
        return result.result(timeout_s)

    def _answer(self, response: _Response) -> Json:
        """Return the JSON object of *response*, or raise the error that it means."""
        if not 200 <= response.status < 300:
            raise self._refusal(response)
        try:
            data = json.loads(response.body)
        except (ValueError, RecursionError) as error:
            raise ModelAnswerInvalid(self.label, f"it is not JSON: {self._message(response)!r}") from error
        if not isinstance(data, dict):
            raise ModelAnswerInvalid(self.label, f"it is a {type(data).__name__} instead of a JSON object")
        if data.get("error"):
            raise self._refusal(response._replace(status=400))
        return data

    def _refusal(self, response: _Response) -> ModelError | _AttemptFailed:
        """Return the error for *response*, which is not a success."""
        status, message = response.status, self._message(response)
        if status >= 400 and _TOO_LONG.search(message):
            counts = next((match for form in _TOKEN_COUNTS if (match := form.search(message))), None)
            if counts is None:
                return InputTooLong(self.label)
            return InputTooLong(self.label, tokens=int(counts["tokens"]), limit=int(counts["limit"]))
        if 300 <= status < 400:
            place = shown(response.headers.get("location", "another address"))
            return ModelRefused(self.label, f"it redirects to {place!r}")
        reason = f"HTTP {status}{_MEANINGS.get(status, '')}: {message}".rstrip(": ")
        if status in _LATER and not any(code in message for code in _OUT_OF_MONEY):
            asked_s = requested_wait_s(response.headers, self.clock.now_ms())
            is_final = response.headers.get("x-should-retry", "").strip().lower() == "false"
            return _AttemptFailed(reason, asked_s=asked_s, rest_s=asked_s or 0.0, is_final=is_final)
        return ModelRefused(self.label, reason)

    def _message(self, response: _Response) -> str:
        """
        Return the error message of a server: the message in its JSON, or the beginning of the body.

        Some servers and proxies repeat the rejected key or address, so secrets are replaced by asterisks.
        """
        text = response.body.decode("utf-8", "replace")
        with suppress(ValueError, RecursionError):
            data = json.loads(text)
            error = data.get("error") if isinstance(data, dict) else None
            if isinstance(error, dict):
                parts = [error.get(name) for name in ("message", "code", "type")]
                text = " ".join(part for part in parts if isinstance(part, str)) or text
            elif isinstance(data, dict):
                parts = [error, data.get("message"), data.get("detail")]
                text = next((part for part in parts if isinstance(part, str)), text)
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return " ".join(text.split())[:EXCERPT].rstrip(".")


class _AttemptFailed(Exception):
    """
    A request after which another one may succeed.

    ``asked_s`` is the wait that the server asks for; the circuit opens for ``rest_s`` if this was the last
    attempt, as it is if ``is_final``.
    """

    def __init__(
        self, reason: str, *, asked_s: float | None = None, rest_s: float = 0.0, is_final: bool = False
    ) -> None:
        super().__init__(reason)
        self.reason, self.asked_s, self.rest_s, self.is_final = reason, asked_s, rest_s, is_final


def requested_wait_s(headers: Mapping[str, str], now_ms: int) -> float | None:
    """
    Return the wait that a server requests, in seconds, never negative; None if there is no valid request.

    ``retry-after-ms`` takes precedence over ``retry-after``, which contains seconds or a date.
    """
    after = headers.get("retry-after", "").strip()
    for text, unit_s in ((headers.get("retry-after-ms", ""), 0.001), (after, 1.0)):
        with suppress(ValueError):
            if math.isfinite(wait_s := float(text) * unit_s):
                return max(0.0, wait_s)
    with suppress(ValueError, TypeError, IndexError, OverflowError):
        date = parsedate_to_datetime(after)
        # Without a time zone ("-0000" or none) the date is in UTC.
        aware = date if date.tzinfo else date.replace(tzinfo=UTC)
        return max(0.0, aware.timestamp() - now_ms / 1000)
    return None


def _failure(state: RetryCallState) -> _AttemptFailed:
    error = state.outcome and state.outcome.exception()
    assert isinstance(error, _AttemptFailed)
    return error


def _client(url: str, api_key: str) -> httpx2.Client:
    parts = urlsplit(url)
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    if api_key:
        headers["Authorization"] = f"Bearer {api_key}"
    try:
        return httpx2.Client(
            base_url=parts._replace(query="", fragment="").geturl(),
            params=parts.query,
            headers=headers,
            trust_env=parts.hostname not in _LOOPBACK,  # a server on this machine is behind no proxy
            # Loading certificates takes longer than a request to a local server, so plain HTTP skips it.
            verify=parts.scheme == "https",
        )
    except (ValueError, OSError, httpx2.InvalidURL):  # the text of the error may contain a password
        raise ConfigError(
            "The proxy or the certificates that the environment names for model servers cannot be used. "
            "Correct HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, SSL_CERT_FILE and SSL_CERT_DIR."
        ) from None
