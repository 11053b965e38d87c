"""Common parts of all models behind HTTP: server, provider, and the identity of the served model."""

from __future__ import annotations

import json
import time
from hashlib import sha256
from typing import Any, NamedTuple

from clawmem.adapters.http.limits import Limits, Sleep
from clawmem.adapters.http.providers import Provider, server_root
from clawmem.adapters.http.transport import Json, Transport
from clawmem.ports.clock import Clock
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


class HttpModel:
    """A model *name* of *provider* at *url*; no request is sent before the first use."""

    def __init__(
        self,
        url: str,
        clock: Clock,
        provider: Provider,
        name: str,
        api_key: str | None = None,
        sleep: Sleep = time.sleep,
    ) -> None:
        """Raises `ConfigError` if the address or the key is invalid."""
        self._provider = provider
        self._name = name
        self._clock = clock
        self._transport = Transport(server_root(url), model=name, clock=clock, api_key=api_key, sleep=sleep)
        self._identity: ModelIdentity | None = None
        self._identified_ms = 0

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def served(self, limits: Limits) -> ModelIdentity:
        """
        Return the identity of the served model.

        A local server answers with the model it was started with, regardless of the model that a request names,
        and may have been restarted with another one, so it is asked before the first use and again every minute.

        Raises:
            ModelUnavailable: the server must be asked and does not answer within *limits*.
        """
        if not self._provider.is_own_server:
            return ModelIdentity(self._name)
        # No lock: threads that ask at the same time get the same result, and none waits for the other.
        if self._identity is None or not 0 <= self._clock.now_ms() - self._identified_ms < FRESH_MS:
            try:
                self._identity = served_in(self._transport.get("/v1/models", limits), self._name)
            except (ModelRefused, ModelAnswerInvalid):
                self._identity = ModelIdentity(self._name)  # not every server has this endpoint
            self._identified_ms = self._clock.now_ms()
        return self._identity


def served_in(answer: Json, name: str) -> ModelIdentity:
    """Return the model of that *name* in the list of a server, or the only listed model."""
    entries = answer.get("data")
    models: dict[str, Any] = {}
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and isinstance(entry.get("id"), str) and entry["id"]:
            models[entry["id"]] = entry.get("meta")
    served = next(iter(models)) if name not in models and len(models) == 1 else name
    meta = models.get(served)
    facts = [meta.get(fact) for fact in _WEIGHTS] if isinstance(meta, dict) else []
    weights = sha256(json.dumps(facts).encode()).hexdigest()[:12] if any(facts) else ""
    if served[0] in "/\\." or served[1:2] == ":":
        # llama.cpp reports the path of the file; the folder is private and does not identify the model.
        served = served.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
    return ModelIdentity(served, weights)
