from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TypeVar

import duckdb
import pyarrow as pa

from clawmem.ports.analytics import COLUMNS, Question, Table
from clawmem.ports.errors import InvalidInput
from clawmem.ports.records import Document
from clawmem.ports.telemetry import Recall

# Shared by several questions: active documents, their recalls, formatted times and ages.
VIEWS = """
create view served as
    select *, collection || '/' || path as document from documents where inactive is null;
create view recalled as
    select document_id, recall_id, min(rank) as best_rank, any_value(asked_at) as asked_at,
           any_value(query_hash) as query_hash
      from hits join recalls on recalls.id = recall_id
     where document_id in (select id from served)
     group by document_id, recall_id;
create view asked as
    select *, id in (select recall_id from hits) as was_answered, len(degraded) > 0 as was_degraded
      from recalls;
create macro iso(moment) as strftime(moment, '%Y-%m-%dT%H:%M:%S.%gZ');
create macro age_days(moment, now) as
    cast(floor((epoch_ms(now::timestamptz) - epoch_ms(moment)) / 86400000.0) as bigint);
"""

_SPEED = """
    count(*), count(*) filter (not was_answered), count(*) filter (was_degraded),
    quantile_disc(took_ms, 0.5), quantile_disc(took_ms, 0.95), max(took_ms)
"""

QUERIES: Mapping[Question, str] = {
    Question.MOST_RECALLED: """
        select document, collection, content_type, count(*) as recalls,
               count(distinct query_hash) as questions, min(best_rank), iso(max(asked_at))
          from served join recalled on document_id = id
         group by document, collection, content_type
         order by recalls desc, questions desc, document
        """,
    Question.NEVER_RECALLED: """
        select document, collection, content_type, iso(authored_at), age_days(authored_at, $now)
          from served where id not in (select document_id from recalled)
         order by authored_at, document
        """,
    Question.GROWTH: """
        with moments as (
            select 'authored' as basis, authored_at as moment, collection, bytes from served
            union all
            select 'indexed', indexed_at, collection, bytes from served
        ), months as (
            select basis, strftime(moment, '%Y-%m') as month, collection,
                   count(*) as documents, sum(bytes) as size
              from moments group by all
        )
        select *, sum(documents) over so_far, sum(size) over so_far
          from months window so_far as (partition by basis, collection order by month)
         order by basis, month, collection
        """,
    Question.AGES: """
        with aged as (select collection, age_days(authored_at, $now) as days from served)
        select collection,
               count(*) filter (days < 0),
               count(*) filter (days >= 0 and days < 7),
               count(*) filter (days >= 7 and days < 30),
               count(*) filter (days >= 30 and days < 90),
               count(*) filter (days >= 90 and days < 365),
               count(*) filter (days >= 365),
               quantile_disc(days, 0.5)
          from aged group by collection order by collection
        """,
    Question.STALENESS: """
        with aged as (select *, age_days(authored_at, $now) as days from served)
        select content_type, count(*), quantile_disc(days, 0.5) as median, max(days),
               count(*) filter (id not in (select document_id from recalled)),
               count(*) filter (review_by <= $now::timestamptz)
          from aged group by content_type order by median desc, content_type
        """,
    Question.COVERAGE: """
        with counted as (select document_id, count(*) as recalls from recalled group by document_id)
        select collection, content_type, count(*), sum(bytes), count(*) filter (pinned),
               count(*) filter (embed_state <> 'synced'), count(recalls), coalesce(sum(recalls), 0)
          from served left join counted on document_id = id
         group by collection, content_type order by collection, content_type
        """,
    Question.INACTIVE: """
        select collection, inactive, count(*), sum(bytes)
          from documents where inactive is not null group by collection, inactive order by collection, inactive
        """,
    Question.USE: """
        select strftime(asked_at, '%Y-%m') as month, collection, content_type,
               count(distinct recall_id), count(distinct document_id)
          from recalled join served on document_id = id
         group by month, collection, content_type order by month, collection, content_type
        """,
    Question.SPEED: f"select verb, {_SPEED} from asked group by verb order by verb",
    Question.DAYS: f"""
        select strftime(asked_at, '%Y-%m-%d') as day, verb, {_SPEED}
          from asked group by day, verb order by day, verb
        """,
    Question.DEGRADED: """
        with missing as (select verb, unnest(degraded) as leg, asked_at from recalls),
             asked_of as (select verb, count(*) as answers from recalls group by verb)
        select verb, leg, count(*) as recalls, count(*) / any_value(answers), iso(max(asked_at))
          from missing join asked_of using (verb)
         group by verb, leg order by recalls desc, verb, leg
        """,
}


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


_TABLES = {"documents": DOCUMENTS, "recalls": RECALLS, "hits": HITS}

# By default DuckDB downloads missing extensions, which takes seconds and is not announced.
_OFFLINE: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}


class DuckdbAnalytics:
    """``Analytics`` in an in-memory DuckDB that is discarded on close; exports Parquet."""

    def __init__(self) -> None:
        self._db = duckdb.connect(":memory:", config=_OFFLINE)
        self._db.execute("set TimeZone = 'UTC'")
        for name, schema in _TABLES.items():
            self._with(schema.empty_table(), f"create table {name} as from incoming")
        self._db.execute(VIEWS)

    def load(self, documents: Iterable[Document], recalls: Iterable[Recall]) -> None:
        for rows in document_tables(documents):
            self._with(rows, "insert into documents from incoming")
        for rows, hits in recall_tables(recalls):
            self._with(rows, "insert into recalls from incoming")
            self._with(hits, "insert into hits from incoming")

    def ask(self, question: Question, *, now: str, limit: int | None = None) -> Table:
        query = QUERIES[question]
        found = self._db.execute(query, {"now": now} if "$now" in query else {})
        return Table(COLUMNS[question], tuple(found.fetchall() if limit is None else found.fetchmany(limit)))

    def export(self, folder: str) -> list[str]:
        return [self._write(name, Path(folder) / f"{name}.parquet") for name in _TABLES]

    def close(self) -> None:
        self._db.close()

    def _with(self, incoming: pa.Table, statement: str) -> None:
        """Run a statement that reads from ``incoming``."""
        self._db.register("incoming", incoming)
        self._db.execute(statement)
        self._db.unregister("incoming")

    def _write(self, table: str, path: Path) -> str:
        try:
            self._db.table(table).write_parquet(str(path), compression="zstd", overwrite=True)
        except duckdb.IOException as error:
            raise InvalidInput("INVALID_PATH", f"{path} cannot be written: {error}") from error
        return str(path)
