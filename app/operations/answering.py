"""Answers of the retrieval services as results of operations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from clawmem.app.operations.answers import Clause, FoundDocument, SearchAnswer
from clawmem.app.operations.explaining import plain, trace_record
from clawmem.app.operations.output import age
from clawmem.app.services.documents.records import provenance_of, successor_of, title_of
from clawmem.domain.retrieval.relevance import likelihood_of
from clawmem.domain.security.quoting import without_orders

if TYPE_CHECKING:
    from clawmem.app.services.retrieval.answer import Answer
    from clawmem.app.services.retrieval.answer import Result as Found
    from clawmem.app.services.retrieval.plan import PlannedClause
    from clawmem.app.services.retrieval.receipts import Receipt, ReceiptItem
    from clawmem.app.settings.model import Settings

SNIPPET = 200  # characters of the snippet of a compact result
DIGITS = 4  # decimal places of scores and probabilities
COMPACT = frozenset(
    {
        *("docid", "file", "title", "origin", "trusted", "score", "confidence", "likelihood", "age"),
        *("start_line", "end_line", "superseded_by", "snippet"),
    }
)


def found_document(
    result: Found,
    settings: Settings,
    *,
    compact: bool = False,
    with_body: bool = False,
    explained: ReceiptItem | None = None,
) -> FoundDocument:
    """Return *result* as a record, with its context in *settings*; a compact one has the beginning of the snippet."""
    document, shown = result.document, result.snippet()
    keys: dict[str, Any] = {
        "docid": f"#{result.docid}",
        "file": document.display_path,
        "title": title_of(document),
        **provenance_of(document.origin),
        "score": round(result.score, DIGITS),
        "confidence": share(result.confidence),
        "likelihood": None if result.confidence is None else str(likelihood_of(result.confidence)),
        "age": age(result.age_days),
        "start_line": shown.start_line,
        "end_line": shown.end_line,
        "snippet": shown.text,
        "superseded_by": successor_of(result.superseded_by),
        "collection": document.collection,
        "path": document.path,
        "heading": result.heading,
        "content_type": document.content_type,
        "authored_at": document.authored_at,
        "modified_at": document.modified_at,
        "context": settings.context_of(document.collection, document.path),
        "snippet_line": shown.start_line,
    }
    if compact:
        keys = {name: value for name, value in keys.items() if name in COMPACT}
        keys["snippet"] = " ".join(shown.text.split())[:SNIPPET]
    if with_body:
        keys["body"] = without_orders(result.body, document.origin)
    return FoundDocument(**keys, **(_explanation(explained) if explained else {}))


def answer_of(
    found: Answer,
    settings: Settings,
    more_keys: Mapping[str, Any],
    *,
    compact: bool = False,
    with_bodies: bool = False,
    explained: tuple[Receipt, int | None] | None = None,
) -> SearchAnswer:
    """
    Return *found* as a result.

    Args:
        more_keys: Keys that only some searches have.
        explained: The receipt that explains the answer, and its id.
    """
    items = explained[0].items if explained else [None] * len(found.results)
    results = [
        found_document(result, settings, compact=compact, with_body=with_bodies, explained=item)
        for result, item in zip(found.results, items, strict=True)
    ]
    return SearchAnswer(
        query=found.query,
        count=len(results),
        answered=share(found.answered),
        hidden=found.trace.hidden,
        results=results,
        degraded=dict(found.trace.degraded),
        **more_keys,
        **(_trace(*explained) if explained else {}),
    )


def share(probability: float | None) -> float | None:
    """Return a probability rounded for output; ``None`` if it was not judged."""
    return None if probability is None else round(probability, DIGITS)


def clauses_of(plan: Iterable[PlannedClause]) -> list[Clause]:
    """Return the parts of a question as records."""
    return [Clause(**asdict(clause)) for clause in plan]


def _explanation(item: ReceiptItem) -> dict[str, Any]:
    return {
        "relevance": item.relevance,
        "legs": dict(item.parts),
        "terms": dict(item.terms),
        "ranks": plain(item.legs),
    }


def _trace(receipt: Receipt, receipt_id: int | None) -> dict[str, Any]:
    return {"trace": trace_record(receipt), "receipt": receipt_id}
