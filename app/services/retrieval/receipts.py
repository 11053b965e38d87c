"""Records of answers: their hash, duration and results, and receipts that explain each rank."""

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from pydantic import Field

from clawmem.app.services.documents.records import Record
from clawmem.app.services.retrieval.answer import Answer
from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.version import VERSION
from clawmem.domain.documents.times import DAY_MS, iso_utc
from clawmem.domain.text.words import query_hash
from clawmem.ports.clock import Clock
from clawmem.ports.errors import InvalidInput, NotFound
from clawmem.ports.indexes import EmbeddingStore
from clawmem.ports.models import ModelAnswers
from clawmem.ports.records import Scope
from clawmem.ports.telemetry import Recall, RecallHit, Receipts, Telemetry

DIGITS = 4  # decimal places; more would double the size of a receipt

# Ten times as many as a question adds, so that old records shrink faster than new ones arrive.
FORGOTTEN_AT_ONCE = 50
ANSWERS_FORGOTTEN_AT_ONCE = 500  # model answers; a reranked question adds one per candidate


class Receipt(Record):
    """
    The receipt of an answer: how it came about. ``hits`` counts the hits per retriever.

    Of an item, ``legs`` has its note's rank and raw score by retriever, ``parts`` the contributions to its relevance,
    ``terms`` those of its score.
    """

    verb: str
    question: str
    asked_at: str
    took_ms: float
    version: str
    model: str | None
    asked: dict[str, Any] = Field(description="The parameters that differ from their defaults.")
    items: list[dict[str, Any]] = Field(description="The results, with ranks and the terms of each score.")
    stages: list[dict[str, Any]] = Field(description="The stages, with the candidates that they dropped.")
    hits: dict[str, int]
    degraded: dict[str, str]
    answered: float | None = Field(description="Probability that anything found answers the question.")


def pack(receipt: Receipt) -> bytes:
    """Return *receipt* as compressed JSON; 1 to 2 kB for ten results."""
    return zlib.compress(receipt.model_dump_json().encode())


def unpack(content: bytes) -> Receipt | None:
    """Return the receipt that `pack` serialized; ``None`` if it is damaged, or of a later clawmem."""
    try:
        return Receipt.model_validate_json(zlib.decompress(content))
    except (zlib.error, ValueError):
        return None


def request_to_json(record: RetrievalRequest | Scope) -> dict[str, Any]:
    """Return the parameters of a request or scope that differ from their defaults, by name, as JSON values."""
    fields = record._asdict().items()
    changed = {name: value for name, value in fields if value != record._field_defaults.get(name, ...)}
    changed.pop("question", None)
    for name, value in changed.items():
        if isinstance(value, Scope):
            changed[name] = request_to_json(value)
        elif isinstance(value, frozenset):
            changed[name] = sorted(value)
    return changed


def explain(
    answer: Answer,
    request: RetrievalRequest,
    verb: str,
    took_ms: float,
    *,
    embeddings: EmbeddingStore,
    **asked: object,
) -> Receipt:
    """
    Return the receipt of *answer* with its ranks in every retriever; numbers have four decimal places.

    *asked* is added to the request. To be called after the answer was sent, so that it causes no delay.
    """
    ranked: dict[str, dict[int, dict[str, float]]] = {}  # the best fragment of each document
    for name, hits in answer.trace.legs.items():
        ranks = ranked[name] = {}
        for rank, hit in enumerate(hits, start=1):
            ranks.setdefault(hit.key.document_id, {"rank": rank, "score": hit.score})
    items = [
        {
            "document_id": result.document.id,
            "docid": result.docid,
            "file": result.document.display_path,
            "start_line": result.start_line,
            "end_line": result.end_line,
            "score": result.score,
            "relevance": result.relevance,
            "legs": {leg: r[result.document.id] for leg, r in ranked.items() if result.document.id in r},
            "parts": result.legs,
            "terms": result.terms,
            "confidence": result.confidence,
        }
        for result in answer.results
    ]
    stages = [{**vars(stage), "ms": round(stage.ms, 1)} for stage in answer.trace.stages]
    return Receipt(
        verb=verb,
        question=answer.query,
        asked_at=iso_utc(request.question.now_ms),
        took_ms=round(took_ms, 1),
        version=VERSION,
        model=embeddings.fingerprint(),
        asked={**request_to_json(request), **asked},
        items=_rounded(items),
        stages=_rounded(stages),
        hits=answer.trace.hits,
        degraded=answer.trace.degraded,
        answered=_rounded(answer.answered),
    )


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, DIGITS)
    if isinstance(value, Mapping):
        return {name: _rounded(part) for name, part in value.items()}
    return [*map(_rounded, value)] if isinstance(value, list) else value


def latest_receipts(receipts: Receipts, limit: int) -> dict[int, Receipt]:
    """Return the last receipts by id, newest first; unreadable ones are left out."""
    latest = {stored.id: unpack(stored.content) for stored in receipts.latest(limit)}
    return {number: receipt for number, receipt in latest.items() if receipt}


def receipt_of(receipts: Receipts, row: Recall) -> Receipt | None:
    """Return the receipt of a turn; ``None`` if it was deleted, is damaged, or of a later clawmem."""
    stored = receipts.get(row.id)
    return unpack(stored.content) if stored else None


def find_receipt(receipts: Receipts, name: str) -> Receipt:
    """
    Return the receipt with an id as users write it: ``17`` or ``#17``.

    Raises:
        NotFound: no receipt has this id; the error lists the latest ids.
        InvalidInput: the receipt is unreadable.
    """
    number = name.strip().removeprefix("#")
    is_id = number.isascii() and number.isdigit() and len(number) < len(str(2**63))
    stored = receipts.get(int(number)) if is_id else None
    if stored is None:
        raise NotFound("receipt", name, suggestions=[str(entry.id) for entry in receipts.latest(5)])
    if receipt := unpack(stored.content):
        return receipt
    raise InvalidInput("INVALID_INPUT", f"The receipt {stored.id} is damaged, or of a later clawmem.")


class Retention(NamedTuple):
    """Retention times in whole days. With 0 days, no receipts are written and existing ones are deleted."""

    recall_days: int = 90
    receipt_days: int = 30


@dataclass(frozen=True, slots=True)
class Recalls:
    """
    Best-effort recorder of answers: its errors and delays never affect an answer.

    Old recalls, receipts and cached model *answers* are deleted here, unless the vault must not change (``forgets``).
    If nothing is recorded (``enabled``), existing receipts expire at once.
    """

    telemetry: Telemetry
    clock: Clock
    receipts: Receipts | None = None
    answers: ModelAnswers | None = None
    enabled: bool = True
    forgets: bool = True
    retention: Retention = Retention()  # noqa: RUF009

    @property
    def keeps_receipts(self) -> bool:
        """Whether receipts are recorded: unlike recalls, they contain the question."""
        return self.enabled and self.retention.receipt_days > 0

    def record(
        self,
        answer: Answer,
        verb: str,
        ms: float,
        *,
        limit: int,
        receipt: Callable[[], bytes] | None = None,
        session_id: str | None = None,
        turn_index: int = 0,
        prompt_id: str = "",
    ) -> int | None:
        """
        Record one answer to *limit* results if possible, in *ms*; return its id or ``None``. Delete some expired
        records.

        *receipt* returns the packed receipt; it is called only if receipts are recorded.
        """
        try:
            now_ms = self.clock.now_ms()
            old = iso_utc(now_ms - self.retention.recall_days * DAY_MS)
            if self.forgets:
                if self.receipts:
                    days = self.retention.receipt_days if self.keeps_receipts else 0
                    self.receipts.trim(iso_utc(now_ms - days * DAY_MS), at_most=FORGOTTEN_AT_ONCE)
                self.telemetry.trim(old, at_most=FORGOTTEN_AT_ONCE)
                if self.answers:
                    self.answers.trim(old, at_most=ANSWERS_FORGOTTEN_AT_ONCE)
            if not self.enabled:
                return None
            content = receipt() if receipt and self.keeps_receipts else None
            ranks = enumerate(answer.results, start=1)
            recall = Recall(
                asked_at=iso_utc(now_ms),
                verb=verb,
                query_hash=query_hash(answer.query),
                took_ms=ms,
                limit=limit,
                degraded=tuple(answer.trace.degraded),
                hits=tuple(RecallHit(result.document.id, rank, result.score) for rank, result in ranks),
                session_id=session_id,
                turn_index=turn_index,
                prompt_id=prompt_id,
            )
            return self.telemetry.record(recall, content)
        except Exception:  # noqa: BLE001  errors of the recorder must not affect the answer
            return None
