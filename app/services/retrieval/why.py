"""Stored receipts: lookup, and replay of their questions on the current vault."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from clawmem.app.services.retrieval.answer import Answer
from clawmem.app.services.retrieval.asked import request_from_json
from clawmem.app.services.retrieval.explain import AnswerContext, Explain
from clawmem.app.services.retrieval.receipts import Receipt, unpack
from clawmem.app.services.retrieval.replay import Replay, compared
from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.ports.clock import Clock
from clawmem.ports.errors import InvalidInput, NotFound
from clawmem.ports.receipts import StoredReceipt
from clawmem.ports.vault import Vault

SUGGESTIONS = 5

Ask = Callable[[str, RetrievalRequest], Answer]


class ReceiptEntry(NamedTuple):
    """A receipt with its id; ``None`` if the stored receipt is unreadable."""

    id: int
    receipt: Receipt | None


class ReceiptReader:
    """Reads receipts; changes nothing."""

    def __init__(self, vault: Vault, clock: Clock) -> None:
        self._vault = vault
        self._clock = clock

    def latest(self, limit: int) -> list[ReceiptEntry]:
        """Return the last receipts, newest first."""
        return [ReceiptEntry(stored.id, _readable(stored)) for stored in self._vault.receipts.latest(limit)]

    def find(self, name: str) -> Receipt:
        """
        Return the receipt with an id as users write it: ``17`` or ``#17``.

        Raises:
            NotFound: no receipt has this id; the error lists the latest ids.
            InvalidInput: the receipt is unreadable.
        """
        number = name.strip().removeprefix("#")
        stored = self._vault.receipts.get(int(number)) if _is_an_id(number) else None
        if stored is None:
            near = [str(one.id) for one in self._vault.receipts.latest(SUGGESTIONS)]
            raise NotFound("receipt", name, suggestions=near)
        receipt = _readable(stored)
        if receipt is None:
            raise InvalidInput(
                "INVALID_INPUT", f"The receipt {stored.id} cannot be read: damaged, or of a later clawmem."
            )
        return receipt

    def replay(self, receipt: Receipt, ask: Ask, version: str) -> Replay:
        """
        Ask the same question of the current vault, and compare the answers.

        Args:
            ask: Answers a request with the pipeline of a verb.
            version: Version of the current clawmem.

        Raises:
            InvalidInput: the receipt has parameter values unknown to this version.
        """
        try:
            request = request_from_json(
                receipt.question, receipt.asked, self._clock.now_ms(), self._clock.zone()
            )
        except (ValueError, TypeError) as error:
            raise InvalidInput(
                "INVALID_INPUT", f"This question cannot be asked again, it was asked with: {error}."
            ) from error
        answer = ask(receipt.verb, request)
        now = Explain(self._vault)(answer, request, AnswerContext(receipt.verb, 0.0, version))
        named = {item.document_id for one in (receipt, now) for item in one.items}
        return compared(receipt, now, self._vault.documents.many(named), request.limit)


def _is_an_id(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < len(str(2**63))


def _readable(stored: StoredReceipt) -> Receipt | None:
    try:
        return unpack(stored.content)
    except ValueError:
        return None
