from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol

from clawmem.ports.digests import sha256

if TYPE_CHECKING:
    from clawmem.ports.status import ModelFailure


class ModelAnswers(Protocol):
    """
    Best-effort cache of model answers, so that the same question is not sent twice.

    The key of an answer is the model (its fingerprint, which includes its location), the purpose (the use of
    the answer, a word such as ``expansion``) and the question (all other inputs that determine the answer).
    The three are stored only as one SHA-256; the purpose is also stored in clear text, for the counts. The
    cache is outside of the vault's transactions: rolling back a transaction does not remove an answer stored
    during it.
    """

    def get(self, model: str, purpose: str, question: str) -> str | None:
        """Return the answer stored last, unchanged; None if there is none."""

    def keep(self, model: str, purpose: str, question: str, answer: str, *, at: str) -> None:
        """
        Store one answer, replacing an earlier one. Also works while the vault is open read-only.

        Args:
            at: Time of the answer in ISO 8601; `trim` uses it.

        Raises:
            InvalidInput: the answer contains an unpaired surrogate; nothing is stored.
            VaultLocked: another writer is active; the call waits a few milliseconds at most.
            VaultReadOnly, VaultFull: the vault cannot be written at all.
        """

    def keep_all(self, model: str, purpose: str, answers: Mapping[str, str], *, at: str) -> None:
        """Store the answers to several questions, all or none; otherwise like `keep`."""

    def trim(self, before: str, *, at_most: int | None = None) -> int:
        """
        Delete the answers stored before *before* (exclusive), the oldest *at_most* of them.

        Raises the same errors as `keep`, but only if there is an answer to delete.

        Returns:
            The number of answers deleted.
        """

    def counts(self) -> dict[str, int]:
        """Return the number of answers for each purpose that has any."""


def answer_key(model: str, purpose: str, question: str) -> bytes:
    """Return the 32-byte key of an answer: the SHA-256 of the three strings as an ASCII JSON array."""
    return sha256(json.dumps([model, purpose, question]).encode()).digest()


class ModelRole(StrEnum):
    """Kind of model, by its output: vectors, text, or a ranking."""

    EMBEDDER = "embedder"
    GENERATOR = "generator"
    RERANKER = "reranker"


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


class Cost(NamedTuple):
    """
    Cost of the calls of one model for one purpose, on one day (``YYYY-MM-DD``) or, if ``day`` is empty, in total.

    ``prompt_tokens`` and ``answer_tokens`` are reported by the model, or estimated at four characters per
    token if it reports none; ``calls`` includes the ``failed`` calls.
    """

    day: str
    model: str
    purpose: str
    calls: int = 1
    failed: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    took_ms: int = 0


class CostLedger(Protocol):
    """Sums of model costs by day, model and purpose."""

    def charge(self, cost: Cost) -> None:
        """Add *cost* to the sums of its day immediately, whether or not the answer is used."""

    def calls_on(self, day: str) -> int:
        """Return the number of calls on that day."""

    def totals(self) -> list[Cost]:
        """Return the total costs sorted by model and purpose; ``day`` is empty."""
