"""Status of model roles: the selected providers and their last failures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace

from clawmem.app.services.models.selection import NONE, Provider
from clawmem.ports.errors import ClawmemError, VaultError
from clawmem.ports.model_failures import ModelFailure, ModelFailures, ModelRole

WITHOUT = {
    ModelRole.EMBEDDER: "answers were found by words alone",
    ModelRole.GENERATOR: "questions were not expanded",
    ModelRole.RERANKER: "answers were not reranked",
}
"""Effect on answers when the model of a role failed."""


class Roles:
    """Determines the provider of each role, without loading a model or calling a server."""

    def __init__(self, chosen: Mapping[ModelRole, Callable[[], Provider]], failures: ModelFailures) -> None:
        self._chosen = chosen
        self._failures = failures

    def __call__(self) -> list[Provider]:
        """Return one provider per role in a fixed order; `NONE` with the reason if the settings are invalid."""
        latest: Mapping[ModelRole, ModelFailure] = {}
        with suppress(VaultError):
            latest = self._failures.latest()
        return [replace(self._of(role), last_failure=latest.get(role)) for role in self._chosen]

    def _of(self, role: ModelRole) -> Provider:
        try:
            return self._chosen[role]()
        except ClawmemError as error:
            return Provider(role, NONE, str(error))
