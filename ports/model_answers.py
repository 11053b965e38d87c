from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Protocol

from clawmem.ports.digests import sha256


class ModelAnswers(Protocol):
    """
    What models said, so that the same is not asked twice: a memory that may have gaps, never a reason to wait.

    An answer belongs to a model (its fingerprint, which names the place it runs at), a purpose (what was done
    with it, a word such as ``expansion``) and a question (everything else that the answer depends on). All three
    are kept as one SHA-256 alone, and the purpose as it is, to count by. It stands outside of the vault's
    transactions: what one takes back stays kept here.
    """

    def get(self, model: str, purpose: str, question: str) -> str | None:
        """The answer that was kept last, as it was given; None when there is none."""
        ...

    def keep(self, model: str, purpose: str, question: str, answer: str, *, at: str) -> None:
        """
        Keep one answer, in place of an earlier one. May be called while the vault is open for reading only.

        Args:
            at: When it was given, ISO 8601 as everywhere; `trim` goes by it.

        Raises:
            InvalidInput: the answer holds half a character; nothing is kept.
            VaultLocked: somebody else is writing; that is not waited for longer than a few milliseconds.
            VaultReadOnly, VaultFull: the vault cannot be written at all.
        """
        ...

    def keep_all(self, model: str, purpose: str, answers: Mapping[str, str], *, at: str) -> None:
        """Keep the answers to several questions, all or none; otherwise as `keep`."""
        ...

    def trim(self, before: str, *, at_most: int | None = None) -> int:
        """
        Forget what was kept before *before* (exclusive), of it the oldest *at_most*; how many answers went.

        Raises as `keep`, but only when there is something to forget.
        """
        ...

    def counts(self) -> dict[str, int]:
        """How many answers there are for each purpose that has one."""
        ...


def answer_key(model: str, purpose: str, question: str) -> bytes:
    """The 32 bytes under which an answer is kept: SHA-256 of the three as an ASCII JSON array."""
    return sha256(json.dumps([model, purpose, question]).encode()).digest()
