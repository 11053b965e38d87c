"""Receipts made from an answer and its trace, and the JSON form of its request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, tzinfo
from typing import Any, NamedTuple

from clawmem.app.services.retrieval.answer import Answer, Result
from clawmem.app.services.retrieval.receipts import (
    Receipt,
    ReceiptDrop,
    ReceiptItem,
    ReceiptStage,
    RetrieverRank,
)
from clawmem.app.services.retrieval.request import RetrievalRequest, Unit
from clawmem.app.services.retrieval.work import StageTrace
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.retrieval.analysis import QueryAnalysis
from clawmem.ports.records import FragmentKey, Hit, Scope, Span
from clawmem.ports.vault import Vault

OLDER_NAMES = {"intent": "purpose"}  # of parameters, in receipts of earlier versions
_APART = frozenset({"question"})

DIGITS = 4  # decimal places; more would double the size of a receipt
Ranked = tuple[int, FragmentKey, float]


def request_to_json(request: RetrievalRequest) -> dict[str, Any]:
    """Return the parameters of *request* that differ from their defaults, by name, as JSON values."""
    return _unusual(request)


def request_from_json(
    question: str, asked: Mapping[str, Any], now_ms: int, zone: tzinfo = UTC
) -> RetrievalRequest:
    """
    Return the request that `request_to_json` serialized, with another time and *zone*.

    Parameters unknown to this version are ignored.

    Raises:
        ValueError: a value unknown to this version.
    """
    chosen = _chosen(RetrievalRequest, asked)
    return RetrievalRequest(QueryAnalysis(question, now_ms, zone), **chosen)


def _unusual(record: Any) -> dict[str, Any]:
    usual = record._field_defaults
    chosen = {name: value for name, value in record._asdict().items() if name not in _APART}
    return {
        name: _plain(value) for name, value in chosen.items() if name not in usual or value != usual[name]
    }


def _plain(value: Any) -> Any:
    if isinstance(value, Scope):
        return _unusual(value)
    if isinstance(value, frozenset):
        return sorted(value)
    return list(value) if isinstance(value, tuple) else value


def _chosen(kind: Any, asked: Mapping[str, Any]) -> dict[str, Any]:
    usual = kind._field_defaults
    named = {OLDER_NAMES.get(name, name): value for name, value in asked.items()}
    return {name: _typed(usual[name], value) for name, value in named.items() if name in usual}


def _typed(usual: Any, value: Any) -> Any:
    """Return the JSON value *value* converted to the type of the default *usual*."""
    kind: Any = type(usual)
    if usual is None or value is None:
        return value
    return kind(**_chosen(kind, value)) if isinstance(usual, Scope) else kind(value)


class AnswerContext(NamedTuple):
    """Context of an answer: the verb, its duration in milliseconds, and the version of clawmem."""

    verb: str
    took_ms: float
    version: str


class Explain:
    """Creates receipts. To be called after the answer was sent, so that it causes no delay."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault

    def __call__(self, answer: Answer, request: RetrievalRequest, occasion: AnswerContext) -> Receipt:
        """Return the receipt of *answer* with its ranks in every retriever; numbers have four decimal places."""
        ranks = self.ranks(answer, request)
        return Receipt(
            verb=occasion.verb,
            question=answer.query,
            asked_at=iso_utc(request.question.now_ms),
            took_ms=round(occasion.took_ms, 1),
            version=occasion.version,
            model=self._vault.embeddings.fingerprint(),
            asked=request_to_json(request),
            items=tuple(_item(result, legs) for result, legs in zip(answer.results, ranks, strict=True)),
            stages=tuple(map(_stage, answer.trace.stages)),
            hits=dict(answer.trace.hits),
            degraded=dict(answer.trace.degraded),
            answered=_rounded_or_none(answer.answered),
        )

    def ranks(self, answer: Answer, request: RetrievalRequest) -> list[dict[str, RetrieverRank]]:
        """
        Return for each result its best rank, from 1, and the raw score in every retriever that found it.

        A document is found if any of its fragments is, a line if a fragment that contains it is.
        """
        wanted = {result.document.id for result in answer.results}
        by_leg = {name: _ranked(hits, wanted) for name, hits in answer.trace.legs.items()}
        if request.unit is Unit.DOCUMENT:
            return [_found(by_leg, result, None) for result in answer.results]
        spans = self._vault.documents.spans(key for hits in by_leg.values() for _, key, _ in hits)
        return [_found(by_leg, result, spans) for result in answer.results]


def _ranked(hits: Sequence[Hit], wanted: Iterable[int]) -> list[Ranked]:
    ranks = enumerate(hits, start=1)
    return [(rank, hit.key, round(hit.score, DIGITS)) for rank, hit in ranks if hit.key.document_id in wanted]


def _found(
    by_leg: Mapping[str, Sequence[Ranked]], result: Result, spans: Mapping[FragmentKey, Span] | None
) -> dict[str, RetrieverRank]:
    found = {}
    for name, hits in by_leg.items():
        own = (RetrieverRank(rank, score) for rank, key, score in hits if _is_of(key, result, spans))
        if first := next(own, None):
            found[name] = first
    return found


def _is_of(key: FragmentKey, result: Result, spans: Mapping[FragmentKey, Span] | None) -> bool:
    if key.document_id != result.document.id:
        return False
    if spans is None:
        return True
    span = spans.get(key)
    return span is not None and span.start_line <= result.start_line and result.end_line <= span.end_line


def _item(result: Result, legs: Mapping[str, RetrieverRank]) -> ReceiptItem:
    return ReceiptItem(
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
        confidence=_rounded_or_none(result.confidence),
    )


def _stage(stage: StageTrace) -> ReceiptStage:
    drops = (ReceiptDrop(d.document_id, round(d.score, DIGITS), d.reason) for d in stage.drops)
    flow = (stage.name, stage.came_in, stage.went_out, round(stage.ms, 1))
    return ReceiptStage(*flow, tuple(stage.notes), dict(stage.dropped), tuple(drops))


def _rounded_or_none(number: float | None) -> float | None:
    return None if number is None else round(number, DIGITS)


def _rounded(numbers: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, DIGITS) for name, value in numbers.items()}
