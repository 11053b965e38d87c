from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from clawmem.adapters.http.addresses import secrets_in
from clawmem.adapters.http.circuit import COOL_DOWN_S, Circuit
from clawmem.adapters.http.connections import TransportFailure
from clawmem.adapters.http.deadline import Left, afresh, deadline
from clawmem.adapters.http.exchange import BrokenOff, Exchange, Oversized, Reply
from clawmem.adapters.http.patience import QUESTION, Patience, asked_wait_s, says_retry
from clawmem.adapters.http.refusals import refusal, words_of
from clawmem.ports.clock import Clock
from clawmem.ports.errors import ModelAnswerInvalid, ModelError, ModelUnavailable

_LEAST_S = 0.001  # a time-out of nothing would be none
FAIR_S = 0.5  # a server that was given less time and did not make it is not down

Json = Mapping[str, Any]
Sleep = Callable[[float], None]


class Transport:
    """
    Questions to one model server, in JSON: asked again when that may help, and not at all while it is down.

    Whatever happens comes out as a `ModelError`, and within the time that was given.
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
        Args:
            url: Without the path of any question, like ``http://localhost:8088``.
            model: As the server knows it; here only for what is said about it.

        Raises:
            ConfigError: *url* is no address of a web server.
        """
        self._exchange = Exchange(url, api_key)
        self._circuit = Circuit(clock)
        self.clock = clock
        self._sleep = sleep
        self._chance = chance
        self._has_answered = False
        self._secrets = [secret for secret in ((api_key or "").strip(), *secrets_in(url)) if secret]
        self.label = f"{model!r} at {self._exchange.base_url}"

    @property
    def base_url(self) -> str:
        """The address of the server, as it may be shown."""
        return self._exchange.base_url

    @property
    def is_local(self) -> bool:
        """Whether the server is on this machine."""
        return self._exchange.is_local

    def get(self, path: str, *, timeout_s: float, patience: Patience = QUESTION) -> Json:
        """What the server says about itself at *path*; the errors are those of `post`."""
        return self._asked("GET", path, None, timeout_s, patience)

    def post(self, path: str, body: Json, *, timeout_s: float, patience: Patience = QUESTION) -> Json:
        """
        The JSON object that answers *body*.

        Raises:
            ModelUnavailable: out of reach, busy, too slow; at once while it is known to be.
            ModelRefused: it says no for good, `InputTooLong` when that is why.
            ModelAnswerInvalid: the answer is no JSON object.
        """
        # Half a surrogate pair has no place in UTF-8, and notes may hold one.
        content = json.dumps(body, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
        return self._asked("POST", path, content, timeout_s, patience)

    def close(self) -> None:
        """Close the connections."""
        self._exchange.close()

    def _asked(
        self, method: str, path: str, content: bytes | None, timeout_s: float, patience: Patience
    ) -> Json:
        left = afresh(timeout_s) if patience.unhurried else deadline(timeout_s)
        self._admit(timeout_s, patience)
        for failures in range(1, patience.tries + 1):
            try:
                reply = self._reply(method, path, content, left)
            except ModelUnavailable as error:
                self._wait_for_its_return(error, failures, patience)
                continue
            if 200 <= reply.status < 300:
                return self._json(reply)
            self._wait(refusal(self.label, reply, self._secrets), reply, failures, patience, left)
        raise AssertionError("the last try either answers or raises")

    def _admit(self, timeout_s: float, patience: Patience) -> None:
        if timeout_s <= 0:
            raise ModelUnavailable(self.label, "no time is left")
        if left_s := self._circuit.left_s():
            if left_s > patience.longest_asked_s:
                raise ModelUnavailable(self.label, self._circuit.reason, retry_after_s=left_s)
            self._sleep(left_s)

    def _reply(self, method: str, path: str, content: bytes | None, left: Left) -> Reply:
        """The reply to the question, asked once more when a connection breaks off, as idle ones do."""
        given_s = max(_LEAST_S, left())
        try:
            try:
                reply = self._exchange.send(method, path, content, given_s)
            except BrokenOff:
                reply = self._exchange.send(method, path, content, max(_LEAST_S, left()))
        except TransportFailure as error:
            raise self._out_of_reach(error, given_s) from error
        except Oversized as error:
            raise ModelAnswerInvalid(self.label, "it does not come to an end") from error
        self._circuit.close()
        self._has_answered = True
        return reply

    def _out_of_reach(self, error: TransportFailure, given_s: float) -> ModelUnavailable:
        if given_s < FAIR_S:
            return ModelUnavailable(self.label, str(error))
        self._circuit.rest(str(error))
        return ModelUnavailable(self.label, str(error), retry_after_s=COOL_DOWN_S)

    def _wait_for_its_return(self, error: ModelUnavailable, failures: int, patience: Patience) -> None:
        """Sleep before a server that answered earlier is asked again, or raise *error*."""
        # One that never answered is not there, and waiting does not help.
        if not (patience.unhurried and self._has_answered):
            raise error
        if failures == patience.tries:
            raise self._given_up(error.reason, failures, error.retry_after_s) from error
        self._sleep(patience.wait_s(failures, self._chance()))

    def _wait(self, error: ModelError, reply: Reply, failures: int, patience: Patience, left: Left) -> None:
        """Sleep until the next try, or raise *error* when there is none."""
        if not isinstance(error, ModelUnavailable):
            raise error
        asked_s = asked_wait_s(reply.headers, self.clock.now_ms())
        wait_s = patience.wait_s(failures, self._chance()) if asked_s is None else asked_s
        is_last = failures == patience.tries or says_retry(reply.headers) is False
        longest_s = patience.longest_asked_s if patience.unhurried else left()
        if is_last or wait_s >= longest_s:
            if asked_s:
                self._circuit.rest(error.reason, asked_s)
            raise self._given_up(error.reason, failures, wait_s)
        self._sleep(wait_s)

    def _given_up(self, reason: str, tries: int, retry_after_s: float | None) -> ModelUnavailable:
        often = f"{reason}, {tries} times in a row" if tries > 1 else reason
        return ModelUnavailable(self.label, often, retry_after_s=retry_after_s)

    def _json(self, reply: Reply) -> Json:
        try:
            data = json.loads(reply.body)
        except (ValueError, RecursionError) as error:
            said = words_of(reply.body, self._secrets)
            raise ModelAnswerInvalid(self.label, f"it is no JSON: {said!r}") from error
        if not isinstance(data, dict):
            raise ModelAnswerInvalid(self.label, f"it is no JSON object but a {type(data).__name__}")
        if data.get("error"):
            raise refusal(self.label, replace(reply, status=400), self._secrets)
        return data
