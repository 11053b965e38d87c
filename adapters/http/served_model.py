from __future__ import annotations

import json
from hashlib import sha256
from typing import Any, NamedTuple

from clawmem.adapters.http.retry import QUESTION, RetryPolicy
from clawmem.adapters.http.transport import Json, Transport
from clawmem.ports.errors import ModelAnswerInvalid, ModelRefused

FRESH_MS = 60_000
# Short, because the request that follows may take as long again while the caller waits for both.
NAMING_TIMEOUT_S = 2.0

# Fields of llama.cpp's metadata that describe the model file; the context size depends on how the server was
# started.
_WEIGHTS = ("n_params", "n_vocab", "n_embd", "size", "ftype")


class ModelIdentity(NamedTuple):
    """Identity of the served model: its name, and a hash that differs when the weights differ (empty if unknown)."""

    name: str
    weights: str = ""

    def __str__(self) -> str:
        return ":".join(filter(None, self))


class ServedModelQuery:
    """
    Query for the model that a local server serves, sent before the first use and again every minute.

    A local server answers with the model it was started with, regardless of the model that the request names,
    and may have been restarted with another one.
    """

    def __init__(self, transport: Transport, name: str, *, is_named: bool) -> None:
        """
        Create the query without sending it.

        Args:
            name: The configured model.
            is_named: Whether the server serves exactly the named model, as every provider does; it is then
                not queried.
        """
        self._transport = transport
        self._name = name
        self._is_named = is_named
        self._known: ModelIdentity | None = None
        self._asked_ms = 0

    def __call__(self, timeout_s: float, policy: RetryPolicy = QUESTION) -> ModelIdentity:
        """
        Return the served model.

        Raises:
            ModelUnavailable: the server must be queried and does not answer within *timeout_s*, with
                *policy*.
        """
        if self._is_named:
            return ModelIdentity(self._name)
        # No lock: threads that query at the same time get the same result, and none waits for the other.
        if self._known is None or not self._is_fresh():
            self._known = self._send(timeout_s, policy)
            self._asked_ms = self._transport.clock.now_ms()
        return self._known

    def _is_fresh(self) -> bool:
        age_ms = self._transport.clock.now_ms() - self._asked_ms
        return 0 <= age_ms < FRESH_MS

    def _send(self, timeout_s: float, policy: RetryPolicy) -> ModelIdentity:
        try:
            answer = self._transport.get("/v1/models", timeout_s=timeout_s, policy=policy)
        except (ModelRefused, ModelAnswerInvalid):
            return ModelIdentity(self._name)  # not every server has this endpoint
        return served_in(answer, self._name)


def served_in(answer: Json, name: str) -> ModelIdentity:
    """Return the model of that *name* in the list of a server, or the only listed model."""
    listed = answer.get("data")
    models = [one for one in listed if _has_name(one)] if isinstance(listed, list) else []
    named = [one for one in models if one["id"] == name] or (models if len(models) == 1 else [])
    return ModelIdentity(_file_name(named[0]["id"]), _weights(named[0])) if named else ModelIdentity(name)


def _has_name(model: Any) -> bool:
    return isinstance(model, dict) and isinstance(model.get("id"), str) and bool(model["id"])


def _file_name(name: str) -> str:
    # llama.cpp reports the path of the file; the folder is private and does not identify the model.
    return (
        name.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
        if name[0] in "/\\." or name[1:2] == ":"
        else name
    )


def _weights(model: Json) -> str:
    meta = model.get("meta")
    facts = [meta.get(fact) for fact in _WEIGHTS] if isinstance(meta, dict) else []
    return sha256(json.dumps(facts).encode()).hexdigest()[:12] if any(facts) else ""
