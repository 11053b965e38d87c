"""Conversion of records to Arrow in batches, so that a large vault is never in memory as Python objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

import pyarrow as pa

from clawmem.ports.records import Document
from clawmem.ports.telemetry import Recall

Item = TypeVar("Item")

BATCH = 5_000  # records; some megabytes

_TIME = pa.timestamp("ms", tz="UTC")

DOCUMENTS = pa.schema(
    {
        "id": pa.int64(),
        "collection": pa.string(),
        "path": pa.string(),
        "title": pa.string(),
        "content_type": pa.string(),
        "tags": pa.list_(pa.string()),
        "authored_at": _TIME,
        "modified_at": _TIME,
        "indexed_at": _TIME,
        "review_by": _TIME,
        "last_accessed_at": _TIME,
        "bytes": pa.int64(),
        "characters": pa.int64(),
        "pinned": pa.bool_(),
        "inactive": pa.string(),  # null for an active document
        "embed_state": pa.string(),
        "confidence": pa.float64(),
        "quality_score": pa.float64(),
        "access_count": pa.int64(),
        "revision_count": pa.int64(),
        "duplicate_count": pa.int64(),
    }
)
RECALLS = pa.schema(
    {
        "id": pa.int64(),
        "asked_at": _TIME,
        "verb": pa.string(),
        "query_hash": pa.string(),
        "took_ms": pa.float64(),
        "asked_for": pa.int64(),
        "degraded": pa.list_(pa.string()),
        "session_id": pa.string(),
        "turn_index": pa.int64(),
    }
)
HITS = pa.schema(
    {
        "recall_id": pa.int64(),
        "rank": pa.int64(),
        "document_id": pa.int64(),
        "score": pa.float64(),
        "was_referenced": pa.bool_(),
    }
)


def document_tables(documents: Iterable[Document]) -> Iterator[pa.Table]:
    """Iterate over tables with the schema `DOCUMENTS`, of at most `BATCH` rows each."""
    for batch in _batches(documents):
        yield _table(DOCUMENTS, [_document_row(document) for document in batch])


def recall_tables(recalls: Iterable[Recall]) -> Iterator[tuple[pa.Table, pa.Table]]:
    """
    Iterate over tables of recalls and of their hits (schemas `RECALLS` and `HITS`), for at most `BATCH`
    recalls each.
    """
    for batch in _batches(recalls):
        hits = [(recall.id, *_hit_row) for recall in batch for _hit_row in _hit_rows(recall)]
        yield _table(RECALLS, [_recall_row(recall) for recall in batch]), _table(HITS, hits)


def _batches(items: Iterable[Item]) -> Iterator[list[Item]]:
    waiting = iter(items)
    while batch := list(islice(waiting, BATCH)):
        yield batch


def _table(schema: pa.Schema, rows: list[tuple[object, ...]]) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else ((),) * len(schema)
    return pa.table(list(map(_array, columns, schema.types)), schema=schema)


def _array(column: tuple[object, ...], kind: pa.DataType) -> pa.Array:
    if kind == _TIME:  # Arrow parses the texts itself, which is fast
        return pa.array(column, pa.string()).cast(kind)
    return pa.array(column, kind)


def _document_row(document: Document) -> tuple[object, ...]:
    return (
        document.id,
        document.collection,
        document.path,
        document.title,
        document.content_type,
        document.tags,
        document.authored_at,
        document.modified_at,
        document.indexed_at,
        document.review_by,
        document.last_accessed_at,
        document.stamp.size if document.stamp else document.body_length,
        document.body_length,
        document.pinned,
        document.inactive,
        document.embed_state,
        document.confidence,
        document.quality_score,
        document.access_count,
        document.revision_count,
        document.duplicate_count,
    )


def _recall_row(recall: Recall) -> tuple[object, ...]:
    return (
        recall.id,
        recall.asked_at,
        recall.verb,
        recall.query_hash,
        recall.took_ms,
        recall.limit,
        recall.degraded,
        recall.session_id,
        recall.turn_index,
    )


def _hit_rows(recall: Recall) -> Iterator[tuple[object, ...]]:
    for hit in recall.hits:
        yield hit.rank, hit.document_id, hit.score, hit.was_referenced
