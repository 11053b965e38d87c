from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from threading import Lock
from typing import Any

from clawmem.adapters.http.addresses import secrets_in, shown
from clawmem.adapters.http.exchange import (
    ConnectionBroken,
    Exchange,
    Reply,
    ResponseTooLarge,
    TransportFailure,
)
from clawmem.adapters.http.retry import (
    QUESTION,
    RetryPolicy,
    TimeLeft,
    deadline,
    per_request,
    requested_wait_s,
    says_retry,
)
from clawmem.ports.clock import Clock
from clawmem.ports.errors import InputTooLong, ModelAnswerInvalid, ModelError, ModelRefused, ModelUnavailable

_LEAST_S = 0.001  # a timeout of zero would mean no timeout
FAIR_S = 0.5  # seconds; missing a shorter timeout does not mean that the server is down

Json = Mapping[str, Any]
Sleep = Callable[[float], None]


class Transport:
    """
    JSON requests to one model server, with retries and a circuit breaker.

    All failures are raised as `ModelError`, within the timeout.
    """

    def __init__(
        self,
        url: str,
        *,
        model: str,
        clock: Clock,
        api_key: str | None = None,
        sleep: Sleep = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        """
        Create the transport without connecting.

        Args:
            url: Address without the path of an endpoint, like ``http://localhost:8088``.
            model: Name of the model, for error messages only.

        Raises:
            ConfigError: *url* is no HTTP address.
        """
        self._exchange = Exchange(url, api_key)
        self._circuit = CircuitBreaker(clock)
        self.clock = clock
        self._sleep = sleep
        self._chance = chance
        self._has_answered = False
        self._secrets = [secret for secret in ((api_key or "").strip(), *secrets_in(url)) if secret]
        self.label = f"{model!r} at {self._exchange.base_url}"

    @property
    def base_url(self) -> str:
        """Address of the server without secrets."""
        return self._exchange.base_url

    @property
    def is_local(self) -> bool:
        """Whether the server is on this machine."""
        return self._exchange.is_local

    def get(self, path: str, *, timeout_s: float, policy: RetryPolicy = QUESTION) -> Json:
        """Return the JSON object at *path*. Raises the errors of `post`."""
        return self._send("GET", path, None, timeout_s, policy)

    def post(self, path: str, body: Json, *, timeout_s: float, policy: RetryPolicy = QUESTION) -> Json:
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
        return self._send("POST", path, content, timeout_s, policy)

    def close(self) -> None:
        """Close the connections."""
        self._exchange.close()

    def _send(
        self, method: str, path: str, content: bytes | None, timeout_s: float, policy: RetryPolicy
    ) -> Json:
        left = per_request(timeout_s) if policy.background else deadline(timeout_s)
        self._admit(timeout_s, policy)
        for failures in range(1, policy.tries + 1):
            try:
                reply = self._reply(method, path, content, left)
            except ModelUnavailable as error:
                self._wait_for_its_return(error, failures, policy)
                continue
            if 200 <= reply.status < 300:
                return self._json(reply)
            self._wait(refusal(self.label, reply, self._secrets), reply, failures, policy, left)
        raise AssertionError("the last try either answers or raises")

    def _admit(self, timeout_s: float, policy: RetryPolicy) -> None:
        if timeout_s <= 0:
            raise ModelUnavailable(self.label, "no time is left")
        if left_s := self._circuit.left_s():
            if left_s > policy.longest_asked_s:
                raise ModelUnavailable(self.label, self._circuit.reason, retry_after_s=left_s)
            self._sleep(left_s)

    def _reply(self, method: str, path: str, content: bytes | None, left: TimeLeft) -> Reply:
        """Send the request, and once more if the connection breaks, as idle connections do."""
        given_s = max(_LEAST_S, left())
        try:
            try:
                reply = self._exchange.send(method, path, content, given_s)
            except ConnectionBroken:
                reply = self._exchange.send(method, path, content, max(_LEAST_S, left()))
        except TransportFailure as error:
            raise self._unreachable(error, given_s) from error
        except ResponseTooLarge as error:
            raise ModelAnswerInvalid(self.label, "it is larger than 64 MB") from error
        self._circuit.close()
        self._has_answered = True
        return reply

    def _unreachable(self, error: TransportFailure, given_s: float) -> ModelUnavailable:
        if given_s < FAIR_S:
            return ModelUnavailable(self.label, str(error))
        self._circuit.rest(str(error))
        return ModelUnavailable(self.label, str(error), retry_after_s=COOL_DOWN_S)

    def _wait_for_its_return(self, error: ModelUnavailable, failures: int, policy: RetryPolicy) -> None:
        """Sleep before the next attempt if the server has answered before; otherwise raise *error*."""
        # A server that never answered does not exist, and waiting does not help.
        if not (policy.background and self._has_answered):
            raise error
        if failures == policy.tries:
            raise self._gave_up(error.reason, failures, error.retry_after_s) from error
        self._sleep(policy.wait_s(failures, self._chance()))

    def _wait(
        self, error: ModelError, reply: Reply, failures: int, policy: RetryPolicy, left: TimeLeft
    ) -> None:
        """Sleep until the next attempt, or raise *error* if there is none."""
        if not isinstance(error, ModelUnavailable):
            raise error
        asked_s = requested_wait_s(reply.headers, self.clock.now_ms())
        wait_s = policy.wait_s(failures, self._chance()) if asked_s is None else asked_s
        is_last = failures == policy.tries or says_retry(reply.headers) is False
        longest_s = policy.longest_asked_s if policy.background else left()
        if is_last or wait_s >= longest_s:
            if asked_s:
                self._circuit.rest(error.reason, asked_s)
            raise self._gave_up(error.reason, failures, wait_s)
        self._sleep(wait_s)

    def _gave_up(self, reason: str, tries: int, retry_after_s: float | None) -> ModelUnavailable:
        often = f"{reason}, {tries} times in a row" if tries > 1 else reason
        return ModelUnavailable(self.label, often, retry_after_s=retry_after_s)

    def _json(self, reply: Reply) -> Json:
        try:
            data = json.loads(reply.body)
        except (ValueError, RecursionError) as error:
            said = words_of(reply.body, self._secrets)
            raise ModelAnswerInvalid(self.label, f"it is not JSON: {said!r}") from error
        if not isinstance(data, dict):
            raise ModelAnswerInvalid(self.label, f"it is a {type(data).__name__} instead of a JSON object")
        if data.get("error"):
            raise refusal(self.label, replace(reply, status=400), self._secrets)
        return data


COOL_DOWN_S = 60.0
# upper limit for a server's own request; one more attempt after ten minutes does no harm
LONGEST_REST_S = 600.0


class CircuitBreaker:
    """
    Circuit breaker for a server: blocks requests for a minute after a failure, or as long as the server asked
    for.

    When the period ends, one caller goes first. The others are blocked for another minute, or until that one
    succeeded.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._since_ms = self._until_ms = 0
        self._is_resting = False
        self.reason = ""

    def left_s(self) -> float:
        """Return the seconds until the next request is allowed; 0 lets the caller through."""
        now_ms = self._clock.now_ms()
        with self._lock:
            # If the clock was set back, the elapsed time is unknown, so the request is allowed.
            if self._is_resting and self._since_ms <= now_ms < self._until_ms:
                return (self._until_ms - now_ms) / 1000
            if self._is_resting:
                self._rest(now_ms, COOL_DOWN_S)
            return 0.0

    def rest(self, reason: str, seconds: float = COOL_DOWN_S) -> None:
        """Block requests for *seconds*, but for ten minutes at most."""
        with self._lock:
            self.reason = reason
            self._rest(self._clock.now_ms(), min(seconds, LONGEST_REST_S))

    def close(self) -> None:
        """Record a success, which allows requests again."""
        with self._lock:
            self._is_resting = False

    def _rest(self, now_ms: int, seconds: float) -> None:
        self._is_resting = True
        self._since_ms, self._until_ms = now_ms, now_ms + round(seconds * 1000)


EXCERPT = 200  # maximum characters of a server's message

_LATER = frozenset({408, 425, 429, 500, 502, 503, 504, 529})
# These codes come with status 429, which is otherwise temporary.
_OUT_OF_MONEY = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
_TOO_LONG = re.compile(
    r"too large to process|exceeds? the (?:available|maximum) context|maximum context length"
    r"|exceed_context_size|context_length_exceeded|maximum input length|too many tokens",
    re.IGNORECASE,
)
# Messages of llama.cpp for embeddings and for chat, and of OpenAI.
_NUMBERS = (
    re.compile(r"\((?P<tokens>\d+) tokens\).{0,300}?batch size: (?P<limit>\d+)", re.DOTALL),
    re.compile(r"\((?P<tokens>\d+) tokens\).{0,300}?context size \((?P<limit>\d+)", re.DOTALL),
    re.compile(r"length is (?P<limit>\d+) tokens.{0,300}?requested (?P<tokens>\d+)", re.DOTALL),
)
_MEANINGS = {
    401: "the API key is missing or wrong",
    403: "the API key may not do this",
    404: "there is no such model or address",
    501: "the server was not started for this",
}


def refusal(model: str, reply: Reply, secrets: Sequence[str] = ()) -> ModelError:
    """Return the error for *reply*, which is not a success; *secrets* are not quoted."""
    said = words_of(reply.body, secrets)
    if reply.status >= 400 and _TOO_LONG.search(said):
        tokens, limit = _token_counts(said)
        return InputTooLong(model, tokens=tokens, limit=limit)
    reason = f"HTTP {reply.status}, {_MEANINGS.get(reply.status, '')}: {said}".replace(", :", ":").rstrip(
        ": "
    )
    if reply.status in _LATER and not any(word in said for word in _OUT_OF_MONEY):
        return ModelUnavailable(model, reason)
    if 300 <= reply.status < 400:
        return ModelRefused(
            model, f"it redirects to {shown(reply.headers.get('location', 'another address'))!r}"
        )
    return ModelRefused(model, reason)


def words_of(body: bytes, secrets: Sequence[str] = ()) -> str:
    """
    Return the error message of a server: the message in its JSON, or the beginning of the body.

    Some servers and proxies repeat the rejected key or address, so *secrets* are replaced by asterisks.
    """
    text = body.decode("utf-8", "replace")
    with suppress(ValueError, RecursionError):
        text = _message(json.loads(text)) or text
    for secret in secrets:
        text = text.replace(secret, "***")
    return " ".join(text.split())[:EXCERPT].rstrip(".")


def _message(data: Any) -> str:
    if not isinstance(data, Mapping):
        return ""
    inner = data.get("error")
    if isinstance(inner, Mapping):
        parts = (inner.get("message"), inner.get("code"), inner.get("type"))
        return " ".join(part for part in parts if isinstance(part, str))
    found = (inner, data.get("message"), data.get("detail"))
    return next((part for part in found if isinstance(part, str)), "")


def _token_counts(said: str) -> tuple[int | None, int | None]:
    for pattern in _NUMBERS:
        if found := pattern.search(said):
            return int(found["tokens"]), int(found["limit"])
    return None, None
