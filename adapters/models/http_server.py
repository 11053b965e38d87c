"""A model server over HTTP: an httpx2 client with retries and a circuit breaker."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from contextlib import suppress
from email.utils import parsedate_to_datetime
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit

import httpx2
from tenacity import RetryCallState, Retrying, retry_if_exception, wait_exponential, wait_random

from clawmem.adapters.models.server import (
    Json,
    Limits,
    ModelIdentity,
    Provider,
    secrets_in,
    server_root,
    shown,
)
from clawmem.ports.clock import Clock
from clawmem.ports.errors import (
    ConfigError,
    InputTooLong,
    ModelAnswerInvalid,
    ModelError,
    ModelRefused,
    ModelUnavailable,
)

TRIES = 5
LONGEST_ASKED_S = 300.0  # the longest wait that a server may ask background work for
EXCERPT = 200  # maximum characters of a server's message
FIRST_WAIT_S, LONGEST_WAIT_S = 1.0, 60.0  # between attempts; each is twice as long as the one before
COOL_DOWN_S = 60.0  # without requests after a failed connection
LONGEST_REST_S = 600.0  # one more attempt after ten minutes does no harm, whatever the server asked for
FAIR_S = 0.5  # missing a shorter timeout does not mean that the server is down
FRESH_MS = 60_000  # for which the identity of the served model is not requested again

_TOO_LONG = re.compile(
    r"too large to process|exceeds? the (?:available|maximum) context|maximum context length"
    r"|exceed_context_size|context_length_exceeded|maximum input length|too many tokens",
    re.IGNORECASE,
)
_LATER = frozenset({408, 425, 429, 500, 502, 503, 504, 529})
_MEANINGS = {
    401: ", the API key is missing or wrong",
    403: ", the API key may not do this",
    404: ", there is no such model or address",
}
# Fields of llama.cpp's metadata that describe the model file; the context size depends on how the server was started.
_WEIGHTS = ("n_params", "n_vocab", "n_embd", "size", "ftype")

Sleep = Callable[[float], None]


class HttpServer:
    """
    Model server over HTTP with persistent connections; thread-safe.

    A busy server is asked again, within the timeout. After a failed connection no question is sent for a minute, or as
    long as the server asks for.
    """

    def __init__(
        self,
        url: str,
        clock: Clock | None,
        provider: Provider,
        name: str,
        *,
        api_key: str | None = None,
        sleep: Sleep = time.sleep,
    ) -> None:
        """
        Create the client without connecting.

        Args:
            url: Address like ``http://localhost:8088``; the path of an endpoint is removed. User, password and query
                are sent with every request.
            clock: Measures the rests between requests; None for a client of one request, which never rests.
            name: Name of the model.

        Raises:
            ConfigError: *api_key* contains invalid characters, or the environment names an invalid proxy or certificate.
        """
        key = (api_key or "").strip()
        if not (key.isascii() and key.isprintable()):
            raise ConfigError("The API key contains invalid characters. Copy it again.")
        url = server_root(url)
        self.provider = provider
        self.name = name
        self.location = shown(url).rstrip("/")
        self.label = f"{name!r} at {self.location}"
        self.clock = clock
        self._now_ms = clock.now_ms if clock else lambda: 0
        self.sleep = sleep
        self._secrets = [secret for secret in (key, *secrets_in(url)) if secret]
        parts = urlsplit(url)
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        try:
            self._client = httpx2.Client(
                base_url=parts._replace(query="", fragment="").geturl(),
                params=parts.query,
                headers=headers | ({"Authorization": f"Bearer {key}"} if key else {}),
                trust_env=parts.hostname not in ("localhost", "127.0.0.1", "::1"),  # behind no proxy
                # Loading certificates takes longer than a request to a local server, so plain HTTP skips it.
                verify=parts.scheme == "https",
            )
        except (ValueError, OSError, httpx2.InvalidURL):  # the text of the error may contain a password
            raise ConfigError(
                "The proxy or the certificates that the environment names for model servers cannot be used. "
                "Correct HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, SSL_CERT_FILE and SSL_CERT_DIR."
            ) from None
        self._blocked_until_ms, self._reason = 0, ""
        self._identity: ModelIdentity | None = None
        self._identified_ms = 0

    def served(self, limits: Limits) -> ModelIdentity:
        """
        Return the identity of the served model.

        A local server answers with the model it was started with, regardless of the model that a request names,
        and may have been restarted with another one, so it is asked before the first use and again every minute.

        Raises:
            ModelUnavailable: the server must be asked and does not answer within *limits*.
        """
        if not self.provider.is_own_server:
            return ModelIdentity(self.name, "", "")
        if self._identity is None or not 0 <= self._now_ms() - self._identified_ms < FRESH_MS:
            try:
                self._identity = served_in(self._send("GET", "/v1/models", None, limits), self.name)
            except (ModelRefused, ModelAnswerInvalid):
                self._identity = ModelIdentity(self.name, "", self.name)  # not every server has this endpoint
            self._identified_ms = self._now_ms()
        return self._identity

    def post(self, path: str, body: Json, limits: Limits) -> Json:
        """
        Send *body* as JSON and return the JSON object of the response.

        Raises:
            ModelUnavailable: the server is unreachable, busy or too slow; raised at once after a failed connection.
            ModelRefused: the server refuses permanently, with `InputTooLong` if the text is too long.
            ModelAnswerInvalid: the response is not a JSON object.
        """
        # An unpaired surrogate, which a note may contain, becomes a question mark.
        content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        return self._send("POST", path, content, limits)

    def close(self) -> None:
        """Close the connections; later requests fail."""
        self._client.close()

    def _send(self, method: str, path: str, content: bytes | None, limits: Limits) -> Json:
        if limits.left_s() <= 0:
            raise ModelUnavailable(self.label, "no time is left")
        blocked_s = (self._blocked_until_ms - self._now_ms()) / 1000
        # A longer rest means that the clock was set back.
        if not limits.background and 0 < blocked_s <= LONGEST_REST_S:
            raise ModelUnavailable(self.label, self._reason, retry_after_s=blocked_s)
        backoff = wait_exponential(FIRST_WAIT_S, LONGEST_WAIT_S) + wait_random(0, FIRST_WAIT_S / 4)

        def wait(state: RetryCallState) -> float:
            error = state.outcome and state.outcome.exception()
            asked_s = error.retry_after_s if isinstance(error, ModelUnavailable) else None
            return backoff(state) if asked_s is None else asked_s

        attempts = Retrying(
            # An error without a cause is a status; a lost connection has one.
            retry=retry_if_exception(
                lambda error: isinstance(error, ModelUnavailable) and not error.__cause__
            ),
            wait=wait,
            stop=lambda state: (
                state.attempt_number >= TRIES
                or state.upcoming_sleep >= (LONGEST_ASKED_S if limits.background else limits.left_s())
            ),
            sleep=self.sleep,
            reraise=True,
        )
        try:
            answer: Json = attempts(self._attempt, method, path, content, limits)
        except ModelUnavailable as error:
            rest_s = min(error.retry_after_s or 0.0, LONGEST_REST_S)
            self._blocked_until_ms, self._reason = self._now_ms() + round(rest_s * 1000), error.reason
            raise
        return answer

    def _attempt(self, method: str, path: str, content: bytes | None, limits: Limits) -> Json:
        timeout_s = max(0.001, limits.left_s())  # zero would mean no timeout
        try:
            response = self._client.request(method, path, content=content, timeout=timeout_s)
        except (RuntimeError, httpx2.HTTPError) as error:  # RuntimeError: the client was closed
            reason = str(error).strip().rstrip(".") or "the connection broke off"
            if isinstance(error, httpx2.TimeoutException):
                reason = f"no answer within {timeout_s:.2g} seconds"
            rest_s = COOL_DOWN_S if timeout_s >= FAIR_S else None
            raise ModelUnavailable(self.label, reason, retry_after_s=rest_s) from error
        data: Any = None
        with suppress(ValueError, RecursionError):
            data = json.loads(response.content)
        fault = data.get("error") if isinstance(data, dict) else None
        if fault or not response.is_success:
            raise self._failure(response, data)
        if not isinstance(data, dict):
            raise ModelAnswerInvalid(self.label, f"it is no JSON object: {self._message(response, data)!r}")
        return data

    def _failure(self, response: httpx2.Response, data: Any) -> ModelError:
        """Return the error that a *response* with the JSON *data* means."""
        status, message = response.status_code, self._message(response, data)
        if 300 <= status < 400:
            place = shown(response.headers.get("location", "another address"))
            return ModelRefused(self.label, f"it redirects to {place!r}")
        if _TOO_LONG.search(message):
            return InputTooLong(self.label)
        reason = f"HTTP {status}{_MEANINGS.get(status, '')}: {message}".rstrip(": ")
        if status in _LATER:
            wait_s = requested_wait_s(response.headers.get("retry-after", ""), self._now_ms())
            return ModelUnavailable(self.label, reason, retry_after_s=wait_s)
        return ModelRefused(self.label, reason)

    def _message(self, response: httpx2.Response, data: Any) -> str:
        """
        Return the message in the JSON *data* of a server, or the beginning of the body.

        Some servers and proxies repeat the rejected key or address, so secrets are replaced by asterisks.
        """
        fields = data if isinstance(data, dict) else {}
        error = fields.get("error") or fields.get("message") or fields.get("detail")
        if isinstance(error, dict):
            error = " ".join(str(error[part]) for part in ("message", "code", "type") if error.get(part))
        text = str(error or response.content.decode("utf-8", "replace"))
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return " ".join(text.split())[:EXCERPT].rstrip(".")


def served_in(answer: Json, name: str) -> ModelIdentity:
    """Return the model of that *name* in the list of a server, or the only listed model."""
    models: dict[str, Any] = {}
    with suppress(LookupError, TypeError, AttributeError):
        models = {entry["id"]: entry.get("meta") for entry in answer["data"] if entry["id"]}
    served = next(iter(models)) if name not in models and len(models) == 1 else name
    meta = models.get(served)
    facts = [meta.get(fact) for fact in _WEIGHTS] if isinstance(meta, dict) else []
    weights = sha256(json.dumps(facts).encode()).hexdigest()[:12] if any(facts) else ""
    if served[0] in "/\\." or served[1:2] == ":":
        # llama.cpp reports the path of the file; the folder is private and does not identify the model.
        served = served.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
    return ModelIdentity(served, weights, served)


def requested_wait_s(header: str, now_ms: int) -> float | None:
    """Return the seconds that the *header* ``Retry-After`` names, as a number or a date; None if it names none."""
    with suppress(ValueError, OverflowError):
        return max(0.0, float(int(header)))
    with suppress(ValueError, TypeError):
        return max(0.0, parsedate_to_datetime(header).timestamp() - now_ms / 1000)
    return None
