"""Journals of maintenance and of acts on documents, and the digests of forgotten texts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields
from hashlib import sha256

from clawmem.adapters.sqlite.database import Row
from clawmem.adapters.sqlite.store import Store
from clawmem.ports.journal import Act, ActEntry, ForgottenText, Replacement, Run, RunStatus

_FIELDS = [field.name for field in fields(Run) if field.name != "id"]
_COLUMNS = ", ".join(_FIELDS)
_BEGIN = f"insert into maintenance_runs ({_COLUMNS}) values ({', '.join('?' * len(_FIELDS))}) returning id"
_UPDATE = f"update maintenance_runs set {', '.join(f'{name} = ?' for name in _FIELDS)} where id = ?"
_RUNS = f"""
select {_COLUMNS}, id from maintenance_runs
 where (:lane = '' or lane = :lane) and (:phase = '' or phase = :phase) order by id desc limit :limit
"""
_TRIM = """
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
        return self._db.change(_TRIM, (before, -1 if at_most is None else at_most))

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

    def forget(self, document_id: int) -> int:
        return self._db.change("update acts set why = '' where document_id = ? and why <> ''", (document_id,))

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
