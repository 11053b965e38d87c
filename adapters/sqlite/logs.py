"""Logs of a vault: questions and receipts, what models cost, maintenance, acts on documents, and forgotten texts."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import astuple, fields
from hashlib import sha256
from itertools import groupby
from typing import ClassVar

from clawmem.adapters.sqlite.database import Row
from clawmem.adapters.sqlite.store import Store
from clawmem.ports.journal import Act, ActEntry, ForgottenText, Replacement, Run, RunStatus
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


class LogStore(Store):
    """Store of a log in the table *log*, with the *key* and the *time* of each row."""

    log: ClassVar[str]
    key: ClassVar[str]
    time: ClassVar[str]

    def trim(self, before: str, *, at_most: int | None = None) -> int:
        if self._db.row(f"select 1 from {self.log} where {self.time} < ? limit 1", (before,)) is None:
            return 0
        old = f"select {self.key} from {self.log} where {self.time} < ? order by {self.time} limit ?"
        with self._db.best_effort() as writer:
            limit = -1 if at_most is None else at_most
            return writer.change(f"delete from {self.log} where {self.key} in ({old})", (before, limit))


class SqliteTelemetry(LogStore):
    """``Telemetry`` in two tables of the vault, written through the best-effort writer."""

    log, key, time = "recalls", "id", "asked_at"

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

    def recalls(self, since: str | None = None, session_id: str | None = None) -> Iterator[Recall]:
        within = "" if session_id is None else "and session_id = :session"
        sql = f"{_SELECT} where asked_at >= :since {within} order by asked_at, id, rank"
        rows = self._db.stream(sql, {"since": since or "", "session": session_id})
        for recall, group in groupby(rows, key=lambda row: row[:_OF_RECALL]):
            recall_id, *question, degraded, session, turn_index, prompt_id = recall
            hits = [row[_OF_RECALL:] for row in group if row[_OF_RECALL] is not None]
            missing = tuple(json.loads(degraded))
            documents = tuple(RecallHit._make((*hit, bool(was_referenced))) for *hit, was_referenced in hits)
            yield Recall._make((*question, missing, documents, session, turn_index, recall_id, prompt_id))

    def mark_referenced(self, recall_id: int, document_ids: Collection[int]) -> int:
        with self._db.best_effort() as writer:
            return writer.change(_MARK, (recall_id, json.dumps(list(document_ids))))

    def count(self) -> int:
        return int(self._db.value("select count(*) from recalls"))


_RECEIPTS = "select recall_id, asked_at, content from receipts"
_THESE = "recall_id in (select value from json_each(?))"


class SqliteReceipts(LogStore):
    """``Receipts`` in one table of the vault."""

    log, key, time = "receipts", "recall_id", "asked_at"

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


def answer_key(model: str, purpose: str, question: str) -> bytes:
    """Return the key of an answer: the SHA-256 of the three strings as an ASCII JSON array."""
    return sha256(json.dumps([model, purpose, question]).encode()).digest()


class SqliteModelAnswers(LogStore):
    """``ModelAnswers`` in a table of the vault, written through the best-effort writer."""

    log, key, time = "model_answers", "key", "kept_at"

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
select :day, model, purpose, {", ".join(f"sum({name})" for name in _SUMS)}
  from model_costs where :day = '' or day = :day group by model, purpose order by model, purpose
"""


class SqliteLedger(Store):
    """``CostLedger`` in a table of the vault."""

    def charge(self, cost: Cost) -> None:
        self._db.write(_CHARGE, astuple(cost))

    def totals(self, day: str = "") -> list[Cost]:
        return [Cost(*row) for row in self._db.rows(_TOTALS, {"day": day})]


# -- maintenance, acts, and what was forgotten -------------------------------------------------------

_FIELDS = [field.name for field in fields(Run) if field.name != "id"]
_COLUMNS = ", ".join(_FIELDS)
_BEGIN = f"insert into maintenance_runs ({_COLUMNS}) values ({', '.join('?' * len(_FIELDS))}) returning id"
_UPDATE = f"update maintenance_runs set {', '.join(f'{name} = ?' for name in _FIELDS)} where id = ?"
_RUNS = f"""
select {_COLUMNS}, id from maintenance_runs
 where (:lane = '' or lane = :lane) and (:phase = '' or phase = :phase) order by id desc limit :limit
"""
_TRIM_RUNS = """
delete from maintenance_runs where id in (
    select id from maintenance_runs where started_at < ? order by id limit ?)
"""
_REPLACEMENTS = """
select document_id, (select json_group_array(document_id order by document_id) from replaced where replacement = id),
       why, at, undone_at, id
  from replacements
 where (undone_at <> '') = :undone and (
       :document is null or document_id = :document
    or id in (select replacement from replaced where document_id = :document))
 order by id
"""


class SqliteJournal(Store):
    """``Journal`` in three tables of the vault."""

    def begin(self, run: Run) -> int:
        return int(self._db.write(_BEGIN, _values(run))[0][0])

    def update(self, run: Run) -> None:
        self._db.write(_UPDATE, (*_values(run), run.id))

    def run(self, run_id: int) -> Run | None:
        row = self._db.row(f"select {_COLUMNS}, id from maintenance_runs where id = ?", (run_id,))
        return _run(row) if row else None

    def runs(self, limit: int, lane: str = "", phase: str = "") -> list[Run]:
        rows = self._db.rows(_RUNS, {"lane": lane, "phase": phase, "limit": max(limit, 0)})
        return [_run(row) for row in rows]

    def trim(self, before: str, *, at_most: int | None = None) -> int:
        return self._db.change(_TRIM_RUNS, (before, -1 if at_most is None else at_most))

    def replace(self, replacement: Replacement) -> int:
        row = (replacement.document_id, replacement.why, replacement.at, replacement.undone_at)
        sql = "insert into replacements (document_id, why, at, undone_at) values (?, ?, ?, ?) returning id"
        with self._db.atomic():
            number = int(self._db.write(sql, row)[0][0])
            replaced = [(number, document_id) for document_id in sorted(set(replacement.replaced))]
            self._db.write_many("insert into replaced values (?, ?)", replaced)
        return number

    def replacements(self, document_id: int | None = None, *, undone: bool = False) -> list[Replacement]:
        rows = self._db.rows(_REPLACEMENTS, {"document": document_id, "undone": int(undone)})
        return [Replacement(number, tuple(json.loads(replaced)), *rest) for number, replaced, *rest in rows]

    def undo(self, replacement_id: int, at: str) -> bool:
        sql = "update replacements set undone_at = ? where id = ? and undone_at = ''"
        return self._db.change(sql, (at, replacement_id)) > 0


def _values(run: Run) -> tuple[str | int, ...]:
    metrics = json.dumps(dict(run.metrics), ensure_ascii=False, sort_keys=True)
    return tuple(metrics if name == "metrics" else getattr(run, name) for name in _FIELDS)


def _run(row: Row) -> Run:
    values = dict(zip([*_FIELDS, "id"], row, strict=True))
    return Run(**{**values, "metrics": json.loads(values["metrics"]), "status": RunStatus(values["status"])})


_ACTS = "select document_id, act, by, at, why, before, id from acts"
_ADD = "insert into acts (document_id, act, by, at, why, before) values (?, ?, ?, ?, ?, ?) returning id"
_LATEST = f"{_ACTS} where :document is null or document_id = :document order by id desc limit :limit"
# A select with max() takes the other columns from the row that holds the maximum (a SQLite guarantee).
_LAST = "select document_id, at, max(id) from acts where act = ? group by document_id"


class SqliteActs(Store):
    """``ActJournal`` in one table of the vault."""

    def add(self, entries: Iterable[ActEntry]) -> list[int]:
        with self._db.atomic():
            return [int(self._db.write(_ADD, entry[:-1])[0][0]) for entry in entries]

    def get(self, act_id: int) -> ActEntry | None:
        return next(iter(self._entries(f"{_ACTS} where id = :id", {"id": act_id})), None)

    def latest(self, limit: int, document_id: int | None = None) -> list[ActEntry]:
        return self._entries(_LATEST, {"document": document_id, "limit": max(limit, 0)})

    def last(self, act: Act) -> Mapping[int, str]:
        return {document_id: at for document_id, at, _ in self._db.rows(_LAST, (act.value,))}

    def _entries(self, sql: str, bindings: Mapping[str, int | None]) -> list[ActEntry]:
        return [ActEntry(number, Act(act), *rest) for number, act, *rest in self._db.rows(sql, bindings)]


class SqliteForgottenTexts(Store):
    """``ForgottenTexts`` in one table; new digests are salted with the id of the vault."""

    def add(self, bodies: Iterable[str]) -> None:
        salt = str(self._db.meta("vault_id"))
        self.restore(ForgottenText(salt, _digest(salt, body)) for body in bodies)

    def restore(self, digests: Iterable[ForgottenText]) -> None:
        self._db.write_many("insert or ignore into forgotten_texts (salt, digest) values (?, ?)", [*digests])

    def digests(self) -> list[ForgottenText]:
        rows = self._db.rows("select salt, digest from forgotten_texts order by salt, digest")
        return [ForgottenText(*row) for row in rows]

    def holds(self, body: str) -> bool:
        # The primary key starts with the salt, so the distinct salts (rarely more than one) are read from the
        # index.
        salts = self._db.values("select distinct salt from forgotten_texts")
        sql = "select 1 from forgotten_texts where salt = ? and digest = ?"
        return any(self._db.row(sql, (salt, _digest(salt, body))) for salt in salts)


def _digest(salt: str, body: str) -> str:
    return sha256(f"{salt}:{' '.join(body.split())}".encode("utf-8", "surrogatepass")).hexdigest()
