from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Protocol

from clawmem.ports.digests import sha256


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
