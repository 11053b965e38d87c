"""Questions and their receipts, and what models cost, answered and failed."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from hashlib import sha256
from itertools import chain, groupby

from clawmem.adapters.sqlite.database import Database, Row
from clawmem.ports.models import Cost, ModelFailure, ModelRole
from clawmem.ports.telemetry import Recall, RecallHit, ReceiptCounts, StoredReceipt

_RECORD_RECALL = """
insert into recalls (asked_at, verb, query_hash, took_ms, asked_for, degraded, session_id, turn_index, prompt_id)
values (?, ?, ?, ?, ?, ?, ?, ?, ?) returning id
"""
_RECORD_HITS = "insert into recall_hits values "
_SELECT = """
select id, asked_at, verb, query_hash, took_ms, asked_for, degraded, session_id, turn_index, prompt_id,
       document_id, rank, score, was_referenced
  from recalls left join recall_hits on recall_id = id
"""
_RECALLS = f"{_SELECT} where asked_at >= ? and (asked_at < ? or ? is null) order by asked_at, id, rank"
_OF_SESSION = f"{_SELECT} where session_id = ? order by asked_at, id, rank"
_MARK = """
update recall_hits set was_referenced = 1
 where recall_id = ? and not was_referenced and document_id in (select value from json_each(?))
"""
_RECORD_RECEIPT = "insert into receipts values (?, ?, ?)"
_TRIM_RECALLS = (
    "delete from recalls where id in (select id from recalls where asked_at < ? order by asked_at limit ?)"
)
_NO_LIMIT = -1
_OF_RECALL = 10  # number of columns of the recall; the remaining columns are those of its hit


class SqliteTelemetry:
    """``Telemetry`` in two tables of the vault, written through the best-effort writer."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def record(self, recall: Recall, receipt: bytes | None = None) -> int:
        with self._db.best_effort() as writer, writer.atomic():
            recall_id = _insert(writer, recall)
            if receipt is not None:
                writer.write(_RECORD_RECEIPT, (recall_id, recall.asked_at, receipt))
            return recall_id

    def recalls(self, since: str | None = None, until: str | None = None) -> Iterator[Recall]:
        yield from _recalls(self._db.stream(_RECALLS, (since or "", until, until)))

    def of_session(self, session_id: str) -> Iterator[Recall]:
        yield from _recalls(self._db.stream(_OF_SESSION, (session_id,)))

    def mark_referenced(self, recall_id: int, document_ids: Collection[int]) -> int:
        with self._db.best_effort() as writer:
            writer.write(_MARK, (recall_id, json.dumps(list(document_ids))))
            return writer.changes()

    def count(self) -> int:
        return int(self._db.value("select count(*) from recalls"))

    def trim(self, before: str, *, at_most: int | None = None) -> int:
        if self._db.row("select 1 from recalls where asked_at < ? limit 1", (before,)) is None:
            return 0
        with self._db.best_effort() as writer:
            writer.write(_TRIM_RECALLS, (before, _NO_LIMIT if at_most is None else at_most))
            return writer.changes()


def _insert(db: Database, recall: Recall) -> int:
    asked = (recall.asked_at, recall.verb, recall.query_hash, recall.took_ms, recall.limit)
    seen = (json.dumps(recall.degraded), recall.session_id, recall.turn_index, recall.prompt_id)
    recall_id = int(db.write(_RECORD_RECALL, (*asked, *seen))[0][0])
    if hits := [(recall_id, h.rank, h.document_id, h.score, h.was_referenced) for h in recall.hits]:
        db.write(_RECORD_HITS + ", ".join(["(?, ?, ?, ?, ?)"] * len(hits)), tuple(chain.from_iterable(hits)))
    return recall_id


def _recalls(rows: Iterator[Row]) -> Iterator[Recall]:
    for recall, hits in groupby(rows, key=lambda row: row[:_OF_RECALL]):
        yield _recall(recall, tuple(_hit(row[_OF_RECALL:]) for row in hits if row[_OF_RECALL] is not None))


def _recall(row: Row, hits: tuple[RecallHit, ...]) -> Recall:
    recall_id, asked_at, verb, query_hash, took_ms, limit, degraded, session_id, turn_index, prompt_id = row
    missing = tuple(json.loads(degraded))
    asked = (asked_at, verb, query_hash, took_ms, limit, missing)
    return Recall(*asked, hits, session_id, turn_index, recall_id, prompt_id)


def _hit(row: Row) -> RecallHit:
    document_id, rank, score, was_referenced = row
    return RecallHit(document_id, rank, score, bool(was_referenced))


_COLUMNS = "select recall_id, asked_at, content from receipts"
_TRIM_RECEIPTS = """
delete from receipts where recall_id in
       (select recall_id from receipts where asked_at < ? order by asked_at limit ?)
"""
_THESE = "recall_id in (select value from json_each(?))"


class SqliteReceipts:
    """``Receipts`` in one table of the vault."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def get(self, receipt_id: int) -> StoredReceipt | None:
        row = self._db.row(f"{_COLUMNS} where recall_id = ?", (receipt_id,))
        return StoredReceipt(*row) if row else None

    def latest(self, limit: int) -> list[StoredReceipt]:
        rows = self._db.rows(f"{_COLUMNS} order by asked_at desc, recall_id desc limit ?", (max(0, limit),))
        return [StoredReceipt(*row) for row in rows]

    def forget(self, receipt_ids: Iterable[int]) -> int:
        asked = json.dumps(list(receipt_ids))
        if self._db.row(f"select 1 from receipts where {_THESE} limit 1", (asked,)) is None:
            return 0
        with self._db.best_effort() as writer:
            writer.write(f"delete from receipts where {_THESE}", (asked,))
            return writer.changes()

    def counts(self) -> ReceiptCounts:
        row = self._db.row("select count(*), coalesce(sum(length(content)), 0) from receipts")
        return ReceiptCounts(*row) if row else ReceiptCounts()

    def trim(self, before: str, *, at_most: int | None = None) -> int:
        if self._db.row("select 1 from receipts where asked_at < ? limit 1", (before,)) is None:
            return 0
        with self._db.best_effort() as writer:
            writer.write(_TRIM_RECEIPTS, (before, _NO_LIMIT if at_most is None else at_most))
            return writer.changes()


_GET = "select answer from model_answers where key = ?"
_KEEP = "insert or replace into model_answers (key, purpose, answer, kept_at) values (?, ?, ?, ?)"
_OLD = "select 1 from model_answers where kept_at < ? limit 1"
_TRIM_ANSWERS = """
delete from model_answers
 where key in (select key from model_answers where kept_at < ? order by kept_at limit ?)
"""
_COUNTS = "select purpose, count(*) from model_answers group by purpose"


def answer_key(model: str, purpose: str, question: str) -> bytes:
    """Return the key of an answer: the SHA-256 of the three strings as an ASCII JSON array."""
    return sha256(json.dumps([model, purpose, question]).encode()).digest()


class SqliteModelAnswers:
    """``ModelAnswers`` in a table of the vault, written through the best-effort writer."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def get(self, model: str, purpose: str, question: str) -> str | None:
        found: str | None = self._db.value(_GET, (answer_key(model, purpose, question),))
        return found

    def keep(self, model: str, purpose: str, answers: Mapping[str, str], *, at: str) -> None:
        rows = [
            (answer_key(model, purpose, question), purpose, answer, at)
            for question, answer in answers.items()
        ]
        if rows:
            with self._db.best_effort() as writer, writer.atomic():
                writer.write_many(_KEEP, rows)

    def trim(self, before: str, *, at_most: int | None = None) -> int:
        if self._db.row(_OLD, (before,)) is None:
            return 0
        with self._db.best_effort() as writer:
            writer.write(_TRIM_ANSWERS, (before, _NO_LIMIT if at_most is None else at_most))
            return writer.changes()

    def counts(self) -> dict[str, int]:
        return dict(self._db.rows(_COUNTS))


_RECORD_COST = """
insert into meta (name, value) values (?, ?) on conflict (name) do update set value = excluded.value
"""
_NAME = "model_failure.{}"


class SqliteModelFailures:
    """``ModelFailures`` in the table of metadata of the vault, one JSON value per role."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def record(self, failure: ModelFailure) -> None:
        kept = [failure.model, failure.failed_at, failure.reason, failure.answered_at]
        with self._db.best_effort() as writer:
            writer.write(_RECORD_COST, (_NAME.format(failure.role), json.dumps(kept)))

    def latest(self) -> Mapping[ModelRole, ModelFailure]:
        found = {role: self._of(role) for role in ModelRole}
        return {role: failure for role, failure in found.items() if failure is not None}

    def _of(self, role: ModelRole) -> ModelFailure | None:
        kept = self._db.meta(_NAME.format(role))
        return None if kept is None else ModelFailure(role, *json.loads(kept))


_SUMS = ("calls", "failed", "prompt_tokens", "answer_tokens", "took_ms")
_CHARGE = f"""
insert into model_costs values (?, ?, ?, ?, ?, ?, ?, ?)
on conflict do update set {", ".join(f"{one} = {one} + excluded.{one}" for one in _SUMS)}
"""
_TOTALS = f"""
select '', model, purpose, {", ".join(f"sum({one})" for one in _SUMS)}
  from model_costs group by model, purpose order by model, purpose
"""


class SqliteLedger:
    """``CostLedger`` in a table of the vault."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def charge(self, cost: Cost) -> None:
        self._db.write(_CHARGE, cost)

    def calls_on(self, day: str) -> int:
        return int(self._db.value("select coalesce(sum(calls), 0) from model_costs where day = ?", (day,)))

    def totals(self) -> list[Cost]:
        return [Cost(*row) for row in self._db.rows(_TOTALS)]
