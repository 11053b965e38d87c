"""Who plays which role, and what went wrong with it last."""

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
"""What an answer lacked when a role's model failed."""


class Roles:
    """Asks who would play each role; loads no model and asks no server."""

    def __init__(self, chosen: Mapping[ModelRole, Callable[[], Provider]], failures: ModelFailures) -> None:
        self._chosen = chosen
        self._failures = failures

    def __call__(self) -> list[Provider]:
        """One a role, always in the same order; where the settings cannot be honoured nobody plays it."""
        latest: Mapping[ModelRole, ModelFailure] = {}
        with suppress(VaultError):
            latest = self._failures.latest()
        return [replace(self._of(role), last_failure=latest.get(role)) for role in self._chosen]

    def _of(self, role: ModelRole) -> Provider:
        try:
            return self._chosen[role]()
        except ClawmemError as error:
            return Provider(role, NONE, str(error))
