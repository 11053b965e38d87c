from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class ModelRole(StrEnum):
    """What a model is asked for: vectors, text, or an order."""

    EMBEDDER = "embedder"
    GENERATOR = "generator"
    RERANKER = "reranker"


@dataclass(frozen=True, slots=True)
class ModelFailure:
    """
    A model that could not do what it was asked: which one (name and place), when, and why in a sentence.

    ``answered_at`` is when it was first seen to answer again, None while it was not.
    """

    role: ModelRole
    model: str
    failed_at: str
    reason: str
    answered_at: str | None = None


class ModelFailures(Protocol):
    """
    The last failure of each role: a diary that may have gaps, never a reason to fail or to wait.

    It stands outside of the vault's transactions: what one takes back stays written here.
    """

    def record(self, failure: ModelFailure) -> None:
        """
        Keep *failure* as the last one of its role. May be called while the vault is open for reading only.

        It survives the end of the process, not necessarily a power failure.

        Raises:
            VaultLocked: somebody else is writing; that is not waited for longer than a few milliseconds.
            VaultReadOnly, VaultFull: the vault cannot be written at all.
        """
        ...

    def latest(self) -> Mapping[ModelRole, ModelFailure]:
        """The last failure of every role that has one, in the order of the roles."""
        ...
