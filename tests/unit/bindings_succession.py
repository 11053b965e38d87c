"""How the vectors of what is current, what is recent and what was before call this implementation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clawmem.domain.retrieval.intent import time_intent
from clawmem.domain.retrieval.succession import current_first


def _succession(given: dict[str, Any]) -> list[Any]:
    pairs = [(older, newer) for older, newer in given["pairs"]]
    return current_first(given["ranked"], pairs, given.get("hidden", ()))


BINDINGS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "succession": _succession,
    "time_intent": lambda given: time_intent(**given).value,
}
