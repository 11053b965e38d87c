"""Records of answers: their hash, duration and results, and receipts that explain each rank."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha1
from typing import TYPE_CHECKING, Any, NamedTuple

from clawmem.app.services.retrieval.answer import Answer, Result
from clawmem.app.services.retrieval.request import RetrievalRequest, Unit
from clawmem.domain.documents.times import iso_utc
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import InvalidInput, NotFound
from clawmem.ports.indexes import EmbeddingStore
from clawmem.ports.models import ModelAnswers
from clawmem.ports.records import Hit, Scope
from clawmem.ports.telemetry import Recall, RecallHit, Receipts, Telemetry

if TYPE_CHECKING:
    from pydantic import TypeAdapter

FORMAT = 1
LEVEL = 4  # compression level; level 9 is 3 % smaller and takes 50 % longer
SUGGESTIONS = 5
DIGITS = 4  # decimal places; more would double the size of a receipt

# Ten times as many as a question adds, so that old records shrink faster than new ones arrive. This takes a few
# milliseconds after the answer was sent.
FORGOTTEN_AT_ONCE = 50
ANSWERS_FORGOTTEN_AT_ONCE = 500  # model answers; a reranked question adds one per candidate

_HASH_DIGITS = 12
_DAY_MS = 86_400_000

_NONE: Mapping[str, Any] = {}


# Named tuples instead of dataclasses: every cold start loads them, and JSON serializes them directly.


class RetrieverRank(NamedTuple):
    """Rank of a result in a retriever, from 1, and its raw score there."""

    rank: int
    score: float


class ReceiptItem(NamedTuple):
    """
    One result. ``legs`` holds its ranks in the retrievers that found it, ``parts`` their contributions to its
    relevance, and ``terms`` the terms of the score, from relevance and metadata (their sum is the score).
    ``confidence`` is the probability that it answers the question, ``None`` if no stage computed it.
    """

    document_id: int
    docid: str
    file: str
    start_line: int
    end_line: int
    score: float
    relevance: float
    legs: Mapping[str, RetrieverRank] = _NONE
    parts: Mapping[str, float] = _NONE
    terms: Mapping[str, float] = _NONE
    confidence: float | None = None


class ReceiptDrop(NamedTuple):
    """A candidate that a stage dropped."""

    document_id: int
    score: float
    reason: str


class ReceiptStage(NamedTuple):
    """One stage: candidates in and out, milliseconds, notes, and dropped candidates by reason."""

    name: str
    came_in: int
    went_out: int
    ms: float
    notes: tuple[str, ...] = ()
    dropped: Mapping[str, int] = _NONE
    drops: tuple[ReceiptDrop, ...] = ()


class Receipt(NamedTuple):
    """
    Explanation of one answer.

    ``asked`` holds the parameters that differ from their defaults, ``hits`` the number of hits per retriever, and
    ``degraded`` the missing retrievers with the reasons. ``model`` names the embedding space, ``version`` the clawmem that answered.
    ``answered`` is the probability that any result answers the question, ``None`` if no stage computed it.
    """

    verb: str
    question: str
    asked_at: str
    took_ms: float
    version: str = ""
    model: str | None = None
    asked: Mapping[str, Any] = _NONE
    items: tuple[ReceiptItem, ...] = ()
    stages: tuple[ReceiptStage, ...] = ()
    hits: Mapping[str, int] = _NONE
    degraded: Mapping[str, str] = _NONE
    answered: float | None = None


def pack(receipt: Receipt) -> bytes:
    """Return *receipt* as compressed JSON, with positions instead of field names; about 1 kB for ten results."""
    written = json.dumps([FORMAT, receipt], separators=(",", ":"), default=dict)
    return zlib.compress(written.encode(), LEVEL)


@cache
def _receipt_adapter() -> TypeAdapter[Receipt]:
    from pydantic import TypeAdapter  # not loaded by a hook, which only writes receipts

    return TypeAdapter(Receipt)


def unpack(content: bytes) -> Receipt | None:
    """Return the receipt that `pack` serialized; ``None`` if it is damaged, or of a later clawmem."""
    try:
        version, fields = json.loads(zlib.decompress(content))
        return _receipt_adapter().validate_python(fields) if version == FORMAT else None
    except (zlib.error, TypeError, ValueError):
        return None


def request_to_json(record: RetrievalRequest | Scope) -> dict[str, Any]:
    """Return the parameters of a request or scope that differ from their defaults, by name, as JSON values."""
    changed: dict[str, Any] = {}
    for name, value in record._asdict().items():
        if name == "question" or value == record._field_defaults.get(name, ...):
            continue
        if isinstance(value, Scope):
            value = request_to_json(value)
        elif isinstance(value, frozenset):
            value = sorted(value)
        changed[name] = list(value) if isinstance(value, tuple) else value
    return changed


class AnswerContext(NamedTuple):
    """Context of an answer: the verb, its duration in milliseconds, and the version of clawmem."""

    verb: str
    took_ms: float
    version: str


class Explain:
    """Creates receipts. To be called after the answer was sent, so that it causes no delay."""

    def __init__(self, documents: DocumentStore, embeddings: EmbeddingStore) -> None:
        self._documents = documents
        self._embeddings = embeddings

    def __call__(self, answer: Answer, request: RetrievalRequest, context: AnswerContext) -> Receipt:
        """Return the receipt of *answer* with its ranks in every retriever; numbers have four decimal places."""
        return Receipt(
            verb=context.verb,
            question=answer.query,
            asked_at=iso_utc(request.question.now_ms),
            took_ms=round(context.took_ms, 1),
            version=context.version,
            model=self._embeddings.fingerprint(),
            asked=request_to_json(request),
            items=tuple(
                ReceiptItem(
                    document_id=result.document.id,
                    docid=result.docid,
                    file=result.document.display_path,
                    start_line=result.start_line,
                    end_line=result.end_line,
                    score=round(result.score, DIGITS),
                    relevance=round(result.relevance, DIGITS),
                    legs=legs,
                    parts=_rounded(result.legs),
                    terms=_rounded(result.terms),
                    confidence=None if result.confidence is None else round(result.confidence, DIGITS),
                )
                for result, legs in zip(answer.results, self.ranks(answer, request), strict=True)
            ),
            stages=tuple(
                ReceiptStage(
                    stage.name,
                    stage.came_in,
                    stage.went_out,
                    round(stage.ms, 1),
                    tuple(stage.notes),
                    dict(stage.dropped),
                    tuple(ReceiptDrop(d.document_id, round(d.score, DIGITS), d.reason) for d in stage.drops),
                )
                for stage in answer.trace.stages
            ),
            hits=dict(answer.trace.hits),
            degraded=dict(answer.trace.degraded),
            answered=None if answer.answered is None else round(answer.answered, DIGITS),
        )

    def ranks(self, answer: Answer, request: RetrievalRequest) -> list[dict[str, RetrieverRank]]:
        """
        Return for each result its best rank, from 1, and the raw score in every retriever that found it.

        A document is found if any of its fragments is, a line if a fragment that contains it is.
        """
        wanted = {result.document.id for result in answer.results}
        ranked = {
            name: [(rank, hit) for rank, hit in enumerate(hits, start=1) if hit.key.document_id in wanted]
            for name, hits in answer.trace.legs.items()
        }
        is_line = request.unit is Unit.LINE
        keys = {hit.key for hits in ranked.values() for _, hit in hits} if is_line else ()
        spans = self._documents.spans(keys)

        def is_of(hit: Hit, result: Result) -> bool:
            if hit.key.document_id != result.document.id:
                return False
            span = spans.get(hit.key)
            within = span and span.start_line <= result.start_line and result.end_line <= span.end_line
            return not is_line or bool(within)

        ranks: list[dict[str, RetrieverRank]] = []
        for result in answer.results:
            ranks.append({})
            for name, hits in ranked.items():
                own = ((rank, hit) for rank, hit in hits if is_of(hit, result))
                if first := next(own, None):
                    ranks[-1][name] = RetrieverRank(first[0], round(first[1].score, DIGITS))
        return ranks


def _rounded(numbers: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, DIGITS) for name, value in numbers.items()}


class ReceiptEntry(NamedTuple):
    """A receipt with its id; ``None`` if the stored receipt is unreadable."""

    id: int
    receipt: Receipt | None


class ReceiptReader:
    """Reads stored receipts."""

    def __init__(self, receipts: Receipts) -> None:
        self._receipts = receipts

    def latest(self, limit: int) -> list[ReceiptEntry]:
        """Return the last receipts, newest first."""
        return [ReceiptEntry(stored.id, unpack(stored.content)) for stored in self._receipts.latest(limit)]

    def find(self, name: str) -> Receipt:
        """
        Return the receipt with an id as users write it: ``17`` or ``#17``.

        Raises:
            NotFound: no receipt has this id; the error lists the latest ids.
            InvalidInput: the receipt is unreadable.
        """
        number = name.strip().removeprefix("#")
        is_id = number.isascii() and number.isdigit() and len(number) < len(str(2**63))
        stored = self._receipts.get(int(number)) if is_id else None
        if stored is None:
            suggestions = [str(entry.id) for entry in self._receipts.latest(SUGGESTIONS)]
            raise NotFound("receipt", name, suggestions=suggestions)
        receipt = unpack(stored.content)
        if receipt is None:
            raise InvalidInput(
                "INVALID_INPUT", f"The receipt {stored.id} cannot be read: damaged, or of a later clawmem."
            )
        return receipt


class Retention(NamedTuple):
    """Retention times in whole days. With 0 days, no receipts are written and existing ones are deleted."""

    recall_days: int = 90
    receipt_days: int = 30


USUAL_RETENTION = Retention()


def query_hash(query: str) -> str:
    """Return 12 hex digits that identify a question, ignoring case and surrounding blanks."""
    normalized = query.strip().lower().encode("utf-8", "surrogatepass")
    return sha1(normalized, usedforsecurity=False).hexdigest()[:_HASH_DIGITS]


@dataclass(frozen=True, slots=True)
class Recalls:
    """
    Best-effort recorder of answers: its errors and delays never affect an answer.

    Args:
        answers: Cached model answers; old ones are deleted here, like old recalls.
        enabled: Whether anything is recorded; if not, existing receipts expire at once.
        forgets: Whether old records may be deleted; False for a vault that must not change.
    """

    telemetry: Telemetry
    clock: Clock
    receipts: Receipts | None = None
    answers: ModelAnswers | None = None
    enabled: bool = True
    forgets: bool = True
    retention: Retention = USUAL_RETENTION

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
        Record one answer if possible; return its id or ``None``. Also delete some expired records.

        Args:
            ms: Duration of the answer in milliseconds.
            limit: Number of requested results.
            receipt: Returns the packed receipt; called only if receipts are recorded.
        """
        try:
            now_ms = self.clock.now_ms()
            if self.forgets:
                self._forget(now_ms)
            if self.enabled:
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
        return None

    def _forget(self, now_ms: int) -> None:
        if self.receipts:
            days = self.retention.receipt_days if self.keeps_receipts else 0
            self.receipts.trim(_before(now_ms, days), at_most=FORGOTTEN_AT_ONCE)
        old = _before(now_ms, self.retention.recall_days)
        self.telemetry.trim(old, at_most=FORGOTTEN_AT_ONCE)
        if self.answers:
            self.answers.trim(old, at_most=ANSWERS_FORGOTTEN_AT_ONCE)


def _before(now_ms: int, days: int) -> str:
    """Return the cut-off time of a retention: a midnight, so that records expire once a day."""
    if days <= 0:
        return iso_utc(now_ms)
    return iso_utc(now_ms // _DAY_MS * _DAY_MS - days * _DAY_MS)
