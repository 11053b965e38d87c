from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class ModelRole(StrEnum):
    """Kind of model, by its output: vectors, text, or a ranking."""

    EMBEDDER = "embedder"
    GENERATOR = "generator"
    RERANKER = "reranker"


@dataclass(frozen=True, slots=True)
class ModelFailure:
    """
    Failure of a model to execute a request: its name and location, the time, and the reason as a sentence.

    ``answered_at`` is the first time at which it was seen to work again, None before that.
    """

    role: ModelRole
    model: str
    failed_at: str
    reason: str
    answered_at: str | None = None


class ModelFailures(Protocol):
    """
    Best-effort log of the last failure of each role.

    The log is outside of the vault's transactions: rolling back a transaction does not remove a failure
    recorded during it.
    """

    def record(self, failure: ModelFailure) -> None:
        """
        Store *failure* as the last one of its role. Also works while the vault is open read-only.

        The record survives the end of the process, but not necessarily a power failure.

        Raises:
            VaultLocked: another writer is active; the call waits a few milliseconds at most.
            VaultReadOnly, VaultFull: the vault cannot be written at all.
        """

    def latest(self) -> Mapping[ModelRole, ModelFailure]:
        """Return the last failure of every role that has one, in the order of the roles."""
