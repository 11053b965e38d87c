"""Questions and their receipts, and what models cost, answered and failed."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import astuple
from hashlib import sha256
from itertools import groupby

from clawmem.adapters.sqlite.database import Database
from clawmem.adapters.sqlite.store import Store
from clawmem.ports.models import Cost, ModelFailure, ModelRole
from clawmem.ports.telemetry import Recall, RecallHit, ReceiptCounts, StoredReceipt

_RECORD_RECALL = """
insert into recalls (asked_at, verb, query_hash, took_ms, asked_for, degraded, session_id, turn_index, prompt_id)
values (?, ?, ?, ?, ?, ?, ?, ?, ?) returning id
"""
_SELECT = """
select id, asked_at, verb, query_hash, took_ms, asked_for, degraded, session_id, turn_index, prompt_id,
       document_id, rank, score, was_referenced
  from recalls left join recall_hits on recall_id = id
"""
_MARK = """
update recall_hits set was_referenced = 1
 where recall_id = ? and not was_referenced and document_id in (select value from json_each(?))
"""
_OF_RECALL = 10  # number of columns of the recall; the remaining columns are those of its hit


class SqliteTelemetry(Store):
    """``Telemetry`` in two tables of the vault, written through the best-effort writer."""

    def record(self, recall: Recall, receipt: bytes | None = None) -> int:
        question = (recall.asked_at, recall.verb, recall.query_hash, recall.took_ms, recall.limit)
        context = (json.dumps(recall.degraded), recall.session_id, recall.turn_index, recall.prompt_id)
        with self._db.best_effort() as writer, writer.atomic():
            recall_id = int(writer.write(_RECORD_RECALL, (*question, *context))[0][0])
            writer.write_many(
                "insert or ignore into recall_hits values (?, ?, ?, ?, ?)",
                [(recall_id, h.rank, h.document_id, h.score, h.was_referenced) for h in recall.hits],
            )
            if receipt is not None:
                writer.write("insert into receipts values (?, ?, ?)", (recall_id, recall.asked_at, receipt))
            return recall_id

    def recalls(self, since: str | None = None) -> Iterator[Recall]:
        return self._recalls("asked_at >= ?", since or "")

    def of_session(self, session_id: str) -> Iterator[Recall]:
        return self._recalls("session_id = ?", session_id)

    def mark_referenced(self, recall_id: int, document_ids: Collection[int]) -> int:
        with self._db.best_effort() as writer:
            return writer.change(_MARK, (recall_id, json.dumps(list(document_ids))))

    def count(self) -> int:
        return int(self._db.value("select count(*) from recalls"))

    def trim(self, before: str, *, at_most: int | None = None) -> int:
        return _trim(self._db, "recalls", "id", "asked_at", before, at_most)

    def _recalls(self, condition: str, value: str) -> Iterator[Recall]:
        rows = self._db.stream(f"{_SELECT} where {condition} order by asked_at, id, rank", (value,))
        for recall, group in groupby(rows, key=lambda row: row[:_OF_RECALL]):
            recall_id, *question, degraded, session_id, turn_index, prompt_id = recall
            hits = [row[_OF_RECALL:] for row in group if row[_OF_RECALL] is not None]
            missing = tuple(json.loads(degraded))
            documents = tuple(RecallHit._make((*hit, bool(was_referenced))) for *hit, was_referenced in hits)
            yield Recall._make((*question, missing, documents, session_id, turn_index, recall_id, prompt_id))


def _trim(db: Database, table: str, key: str, time: str, before: str, at_most: int | None) -> int:
    """Delete the oldest rows from before *before*, if there are any, and return their number."""
    if db.row(f"select 1 from {table} where {time} < ? limit 1", (before,)) is None:
        return 0
    old = f"select {key} from {table} where {time} < ? order by {time} limit ?"
    with db.best_effort() as writer:
        limit = -1 if at_most is None else at_most
        return writer.change(f"delete from {table} where {key} in ({old})", (before, limit))


_RECEIPTS = "select recall_id, asked_at, content from receipts"
_THESE = "recall_id in (select value from json_each(?))"


class SqliteReceipts(Store):
    """``Receipts`` in one table of the vault."""

    def get(self, receipt_id: int) -> StoredReceipt | None:
        row = self._db.row(f"{_RECEIPTS} where recall_id = ?", (receipt_id,))
        return StoredReceipt(*row) if row else None

    def latest(self, limit: int) -> list[StoredReceipt]:
        sql = f"{_RECEIPTS} order by asked_at desc, recall_id desc limit ?"
        return [StoredReceipt(*row) for row in self._db.rows(sql, (max(0, limit),))]

    def forget(self, receipt_ids: Iterable[int]) -> int:
        ids = (json.dumps(list(receipt_ids)),)
        if self._db.row(f"select 1 from receipts where {_THESE} limit 1", ids) is None:
            return 0
        with self._db.best_effort() as writer:
            return writer.change(f"delete from receipts where {_THESE}", ids)

    def counts(self) -> ReceiptCounts:
        sql = "select count(*), coalesce(sum(length(content)), 0) from receipts"
        return ReceiptCounts(*self._db.rows(sql)[0])

    def trim(self, before: str, *, at_most: int | None = None) -> int:
        return _trim(self._db, "receipts", "recall_id", "asked_at", before, at_most)


def answer_key(model: str, purpose: str, question: str) -> bytes:
    """Return the key of an answer: the SHA-256 of the three strings as an ASCII JSON array."""
    return sha256(json.dumps([model, purpose, question]).encode()).digest()


class SqliteModelAnswers(Store):
    """``ModelAnswers`` in a table of the vault, written through the best-effort writer."""

    def get(self, model: str, purpose: str, question: str) -> str | None:
        key = answer_key(model, purpose, question)
        answer: str | None = self._db.value("select answer from model_answers where key = ?", (key,))
        return answer

    def keep(self, model: str, purpose: str, answers: Mapping[str, str], *, at: str) -> None:
        if answers:
            with self._db.best_effort() as writer, writer.atomic():
                writer.write_many(
                    "insert or replace into model_answers (key, purpose, answer, kept_at) values (?, ?, ?, ?)",
                    [
                        (answer_key(model, purpose, question), purpose, answer, at)
                        for question, answer in answers.items()
                    ],
                )

    def trim(self, before: str, *, at_most: int | None = None) -> int:
        return _trim(self._db, "model_answers", "key", "kept_at", before, at_most)

    def counts(self) -> dict[str, int]:
        return dict(self._db.rows("select purpose, count(*) from model_answers group by purpose"))


class SqliteModelFailures(Store):
    """``ModelFailures`` in the table of metadata of the vault, one JSON value per role."""

    def record(self, failure: ModelFailure) -> None:
        details = [failure.model, failure.failed_at, failure.reason, failure.answered_at]
        with self._db.best_effort() as writer:
            row = (f"model_failure.{failure.role}", json.dumps(details))
            writer.write("insert or replace into meta values (?, ?)", row)

    def latest(self) -> Mapping[ModelRole, ModelFailure]:
        stored = {role: self._db.meta(f"model_failure.{role}") for role in ModelRole}
        return {role: ModelFailure(role, *json.loads(text)) for role, text in stored.items() if text}


_SUMS = ("calls", "failed", "prompt_tokens", "answer_tokens", "took_ms")
_CHARGE = f"""
insert into model_costs values (?, ?, ?, ?, ?, ?, ?, ?)
on conflict do update set {", ".join(f"{name} = {name} + excluded.{name}" for name in _SUMS)}
"""
_TOTALS = f"""
select '', model, purpose, {", ".join(f"sum({name})" for name in _SUMS)}
  from model_costs group by model, purpose order by model, purpose
"""


class SqliteLedger(Store):
    """``CostLedger`` in a table of the vault."""

    def charge(self, cost: Cost) -> None:
        self._db.write(_CHARGE, astuple(cost))

    def calls_on(self, day: str) -> int:
        return int(self._db.value("select coalesce(sum(calls), 0) from model_costs where day = ?", (day,)))

    def totals(self) -> list[Cost]:
        return [Cost(*row) for row in self._db.rows(_TOTALS)]
