from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import duckdb
import pyarrow as pa

from clawmem.ports.records import Document
from clawmem.ports.telemetry import COLUMNS, Question, Recall

# The views and macros are shared by several questions: active documents, their recalls, formatted times and ages.
SCHEMA = """
create table documents (
    id bigint, collection varchar, path varchar, title varchar, content_type varchar, tags varchar[],
    authored_at timestamptz, modified_at timestamptz, indexed_at timestamptz, review_by timestamptz,
    last_accessed_at timestamptz, bytes bigint, body_length bigint, pinned boolean, inactive varchar,
    embed_state varchar, confidence double, access_count bigint, revision_count bigint,
    duplicate_count bigint
);
create table recalls (
    id bigint, asked_at timestamptz, verb varchar, query_hash varchar, took_ms double, "limit" bigint,
    degraded varchar[], session_id varchar, turn_index bigint
);
create table hits (recall_id bigint, rank bigint, document_id bigint, score double, was_referenced boolean);
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
    Question.SPEED: """
        select verb, count(*), count(*) filter (not was_answered), count(*) filter (was_degraded),
               quantile_disc(took_ms, 0.5), quantile_disc(took_ms, 0.95), max(took_ms)
          from asked group by verb order by verb
        """,
}


# By default DuckDB downloads missing extensions, which takes seconds and is not announced.
_OFFLINE: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}


class DuckdbAnalytics:
    """``Analytics`` in an in-memory DuckDB, which is freed with the object."""

    def __init__(self) -> None:
        self._db = duckdb.connect(":memory:", config=_OFFLINE)
        self._db.execute("set TimeZone = 'UTC'")
        self._db.execute(SCHEMA)

    def load(self, documents: Iterable[Document], recalls: Iterable[Recall]) -> None:
        loaded, questions = list(documents), list(recalls)
        sizes = [document.stamp.size if document.stamp else document.body_length for document in loaded]
        self._insert("documents", loaded, bytes=sizes)
        self._insert("recalls", questions)
        ids = [recall.id for recall in questions for _ in recall.hits]
        self._insert("hits", [hit for recall in questions for hit in recall.hits], recall_id=ids)

    def _insert(self, table: str, records: Sequence[object], **columns: Sequence[object]) -> None:
        """Add the attributes of *records*, and further *columns*; DuckDB converts the texts of times."""
        names = [name for name in self._db.table(table).columns if name not in columns]
        values = {name: [getattr(record, name) for record in records] for name in names}
        self._db.register("incoming", pa.table({**values, **columns}))
        self._db.execute(f"insert into {table} by name from incoming")
        self._db.unregister("incoming")

    def ask(self, question: Question, *, now: str, limit: int | None = None) -> list[dict[str, Any]]:
        query = QUERIES[question]
        rows = self._db.execute(query, {"now": now} if "$now" in query else {})
        answer = rows.fetchall() if limit is None else rows.fetchmany(limit)
        return [dict(zip(COLUMNS[question], row, strict=True)) for row in answer]
