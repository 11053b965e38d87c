from __future__ import annotations

import json
from hashlib import sha256
from typing import Any, NamedTuple

from clawmem.adapters.http.patience import QUESTION, Patience
from clawmem.adapters.http.transport import Json, Transport
from clawmem.ports.errors import ModelAnswerInvalid, ModelRefused

FRESH_MS = 60_000
# The question may have as long again, before whoever waits for both gives up and the process wants to end.
NAMING_TIMEOUT_S = 2.0

# Of what llama.cpp says about a model file; its context depends on how the server was started.
_WEIGHTS = ("n_params", "n_vocab", "n_embd", "size", "ftype")


class Served(NamedTuple):
    """Which model answers: its name, and something that differs when its weights do (empty when unknown)."""

    name: str
    weights: str = ""

    def __str__(self) -> str:
        return ":".join(filter(None, self))


class ServedModel:
    """
    Which model a server of one's own serves; asked before the first use, and anew every minute.

    Such a server answers with the model it was started with, whatever name it is asked for, and may have
    been started anew with another one meanwhile.
    """

    def __init__(self, transport: Transport, name: str, *, is_named: bool) -> None:
        """
        Args:
            name: The model that is asked for.
            is_named: Whether the server has that model or none, as every provider; it is then not asked.
        """
        self._transport = transport
        self._name = name
        self._is_named = is_named
        self._known: Served | None = None
        self._asked_ms = 0

    def __call__(self, timeout_s: float, patience: Patience = QUESTION) -> Served:
        """
        The model that is served.

        Raises:
            ModelUnavailable: it has to be asked and cannot be within *timeout_s*, with *patience*.
        """
        if self._is_named:
            return Served(self._name)
        # Without a lock: two threads that ask at the same time learn the same, and none waits for the other.
        if self._known is None or not self._is_fresh():
            self._known = self._asked(timeout_s, patience)
            self._asked_ms = self._transport.clock.now_ms()
        return self._known

    def _is_fresh(self) -> bool:
        age_ms = self._transport.clock.now_ms() - self._asked_ms
        return 0 <= age_ms < FRESH_MS

    def _asked(self, timeout_s: float, patience: Patience) -> Served:
        try:
            answer = self._transport.get("/v1/models", timeout_s=timeout_s, patience=patience)
        except (ModelRefused, ModelAnswerInvalid):
            return Served(self._name)  # not every server can say
        return served_in(answer, self._name)


def served_in(answer: Json, name: str) -> Served:
    """The model among those that a server lists: the one of that *name*, or the only one."""
    listed = answer.get("data")
    models = [one for one in listed if _has_name(one)] if isinstance(listed, list) else []
    named = [one for one in models if one["id"] == name] or (models if len(models) == 1 else [])
    return Served(_file_name(named[0]["id"]), _weights(named[0])) if named else Served(name)


def _has_name(model: Any) -> bool:
    return isinstance(model, dict) and isinstance(model.get("id"), str) and bool(model["id"])


def _file_name(name: str) -> str:
    # llama.cpp gives the path of the file; where it lies is nobody's business and does not change the model.
    return (
        name.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
        if name[0] in "/\\." or name[1:2] == ":"
        else name
    )


def _weights(model: Json) -> str:
    meta = model.get("meta")
    facts = [meta.get(fact) for fact in _WEIGHTS] if isinstance(meta, dict) else []
    return sha256(json.dumps(facts).encode()).hexdigest()[:12] if any(facts) else ""
