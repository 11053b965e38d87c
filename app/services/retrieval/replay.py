"""Stored receipts: lookup, replay of their questions on the current vault, and comparison of the answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from clawmem.app.services.retrieval.answer import Answer
from clawmem.app.services.retrieval.receipts import (
    AnswerContext,
    Explain,
    Receipt,
    ReceiptItem,
    request_from_json,
    unpack_if_readable,
)
from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.domain.documents.identity import DOCID_LENGTH
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import InvalidInput, NotFound
from clawmem.ports.records import Document, InactiveReason
from clawmem.ports.telemetry import Receipts

CHANGED = "changed since"
ADDED = "indexed since"
GONE = "no longer in the vault"
INACTIVE = {
    InactiveReason.REMOVED: "its file is gone",
    InactiveReason.ARCHIVED: "archived",
    InactiveReason.FORGOTTEN: "forgotten",
    InactiveReason.SUPERSEDED: "superseded",
}

Place = tuple[int, int]  # document id; first line if results are lines, else 0
Ranked = tuple[int, ReceiptItem]
SUGGESTIONS = 5
Ask = Callable[[str, RetrievalRequest], Answer]


class ChangeKind(StrEnum):
    """Change of one result between two answers."""

    SAME = "same"  # same rank; the score may differ
    MOVED = "moved"
    NEW = "new"
    GONE = "gone"


class SilenceChange(StrEnum):
    """Change between an empty and a non-empty answer."""

    FELL_SILENT = "answered then, silent now"
    SPEAKS = "silent then, answered now"


@dataclass(frozen=True, slots=True)
class ResultChange:
    """One result then and now; ranks from 1, ``None`` if it is not in that answer. ``reason`` may be empty."""

    fate: ChangeKind
    file: str
    docid: str
    start_line: int
    rank_then: int | None
    rank_now: int | None
    score_then: float | None
    score_now: float | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Replay:
    """
    The comparison of a current answer with a receipt: current results by rank, then those that are gone.

    ``circumstances`` are differences that may move every result: model, version, missing retrievers. ``voice`` tells
    that only one of the two answers is empty; ``None`` if both or neither are.
    """

    changes: tuple[ResultChange, ...]
    circumstances: tuple[str, ...]
    now: Receipt
    voice: SilenceChange | None = None


def compared(then: Receipt, now: Receipt, documents: Mapping[int, Document], limit: int) -> Replay:
    """
    Compare the receipt *now* with *then*, which is of the same question.

    Args:
        documents: Current records of the documents in both answers, by id, as far as they exist.
        limit: Number of requested results.
    """
    before, after = _ranked(then), _ranked(now)
    given = [
        _change(place, before.get(place), found, then, documents.get(place[0]))
        for place, found in after.items()
    ]
    missing = {place: found for place, found in before.items() if place not in after}
    gone = [_gone(found, now, documents.get(place[0]), limit) for place, found in missing.items()]
    return Replay((*given, *gone), tuple(_circumstances(then, now)), now, _voice(then, now))


def _voice(then: Receipt, now: Receipt) -> SilenceChange | None:
    if bool(then.items) == bool(now.items):
        return None
    return SilenceChange.SPEAKS if now.items else SilenceChange.FELL_SILENT


def _ranked(receipt: Receipt) -> dict[Place, Ranked]:
    by_line = receipt.asked.get("unit") == "line"
    ranks = enumerate(receipt.items, start=1)
    return {(item.document_id, item.start_line if by_line else 0): (rank, item) for rank, item in ranks}


def _change(
    place: Place, before: Ranked | None, after: Ranked, then: Receipt, document: Document | None
) -> ResultChange:
    rank, item = after
    shown = (item.file, item.docid, item.start_line)
    if before is None:
        return ResultChange(
            ChangeKind.NEW, *shown, None, rank, None, item.score, _why_new(place, then, document)
        )
    rank_then, item_then = before
    fate = ChangeKind.SAME if rank_then == rank else ChangeKind.MOVED
    reason = CHANGED if item_then.docid[:DOCID_LENGTH] != item.docid[:DOCID_LENGTH] else ""
    return ResultChange(fate, *shown, rank_then, rank, item_then.score, item.score, reason)


def _why_new(place: Place, then: Receipt, document: Document | None) -> str:
    if document and document.indexed_at > then.asked_at:
        return CHANGED if document.revision_count > 1 else ADDED
    return _dropped(then, place[0], "then ")


def _gone(before: Ranked, now: Receipt, document: Document | None, limit: int) -> ResultChange:
    rank, item = before
    shown = (item.file, item.docid, item.start_line)
    reason = _why_gone(item, now, document, limit)
    return ResultChange(ChangeKind.GONE, *shown, rank, None, item.score, None, reason)


def _why_gone(item: ReceiptItem, now: Receipt, document: Document | None, limit: int) -> str:
    if document is None:
        return GONE
    if document.inactive is not None:
        return INACTIVE[document.inactive]
    if not document.hash.startswith(item.docid):
        return CHANGED
    outranked = "others come first" if len(now.items) >= limit else ""
    return _dropped(now, item.document_id, "now ") or outranked


def _dropped(receipt: Receipt, document_id: int, when: str) -> str:
    drops = [drop for stage in receipt.stages for drop in stage.drops]
    named = (drop.reason for drop in drops if drop.document_id == document_id)
    reason = next(named, _all_dropped(receipt))
    return f"{when}{reason}" if reason else ""


def _all_dropped(receipt: Receipt) -> str:
    """Return why the answer is empty, if a stage dropped all candidates for a single reason; receipts name only some."""
    emptied = (stage for stage in receipt.stages if stage.came_in and not stage.went_out)
    return next((reason for stage in emptied for reason in stage.dropped if len(stage.dropped) == 1), "")


def _circumstances(then: Receipt, now: Receipt) -> list[str]:
    told = [
        (then.model, now.model, "vectors of {} then, of {} now"),
        (then.version or now.version, now.version, "answered by clawmem {} then, {} now"),
    ]
    found = [text.format(a or "none", b or "none") for a, b, text in told if a != b]
    found += [f"degraded then: {leg}: {why}" for leg, why in then.degraded.items()]
    return [*found, *(f"degraded now: {leg}: {why}" for leg, why in now.degraded.items())]


class ReceiptEntry(NamedTuple):
    """A receipt with its id; ``None`` if the stored receipt is unreadable."""

    id: int
    receipt: Receipt | None


class ReceiptReader:
    """Reads receipts; changes nothing."""

    def __init__(self, documents: DocumentStore, receipts: Receipts, explain: Explain, clock: Clock) -> None:
        self._documents = documents
        self._receipts = receipts
        self._explain = explain
        self._clock = clock

    def latest(self, limit: int) -> list[ReceiptEntry]:
        """Return the last receipts, newest first."""
        return [
            ReceiptEntry(stored.id, unpack_if_readable(stored.content))
            for stored in self._receipts.latest(limit)
        ]

    def find(self, name: str) -> Receipt:
        """
        Return the receipt with an id as users write it: ``17`` or ``#17``.

        Raises:
            NotFound: no receipt has this id; the error lists the latest ids.
            InvalidInput: the receipt is unreadable.
        """
        number = name.strip().removeprefix("#")
        stored = self._receipts.get(int(number)) if _is_an_id(number) else None
        if stored is None:
            near = [str(one.id) for one in self._receipts.latest(SUGGESTIONS)]
            raise NotFound("receipt", name, suggestions=near)
        receipt = unpack_if_readable(stored.content)
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
        now = self._explain(answer, request, AnswerContext(receipt.verb, 0.0, version))
        named = {item.document_id for one in (receipt, now) for item in one.items}
        return compared(receipt, now, self._documents.many(named), request.limit)


def _is_an_id(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < len(str(2**63))
