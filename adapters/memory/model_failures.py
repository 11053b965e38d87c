from __future__ import annotations

from collections.abc import Mapping

from clawmem.ports.model_failures import ModelFailure, ModelRole


class MemoryModelFailures:
    """Reference ``ModelFailures`` over a dictionary."""

    def __init__(self) -> None:
        self._last: dict[ModelRole, ModelFailure] = {}

    def record(self, failure: ModelFailure) -> None:
        self._last[failure.role] = failure

    def latest(self) -> Mapping[ModelRole, ModelFailure]:
        return {role: self._last[role] for role in ModelRole if role in self._last}
