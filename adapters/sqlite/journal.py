from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256

from clawmem.adapters.sqlite.database import Database, Row
from clawmem.ports.journal import Act, ActEntry, Replacement, Run, RunStatus

_FIELDS = (
    "lane", "phase", "status", "started_at", "reason", "selected", "processed", "created", "rejected", "null_calls",
    "metrics", "finished_at",
)  # fmt: skip
_COLUMNS = ", ".join(_FIELDS)
_BEGIN = f"insert into maintenance_runs ({_COLUMNS}) values ({', '.join('?' * len(_FIELDS))}) returning id"
_TELL = f"update maintenance_runs set {', '.join(f'{name} = ?' for name in _FIELDS)} where id = ?"
_RUN = f"select {_COLUMNS}, id from maintenance_runs where id = ?"
_RUNS = f"""
select {_COLUMNS}, id from maintenance_runs
 where (:lane = '' or lane = :lane) and (:phase = '' or phase = :phase) order by id desc limit :limit
"""
_TRIM = """
delete from maintenance_runs where id in (
    select id from maintenance_runs where started_at < ? order by id limit ?) returning id
"""
_REPLACE = "insert into replacements (document_id, why, at, undone_at) values (?, ?, ?, ?) returning id"
_REPLACEMENTS = """
select document_id, why, at, undone_at, id from replacements
 where (undone_at <> '') = :undone and (
       :document is null or document_id = :document
    or id in (select replacement from replaced where document_id = :document))
 order by id
"""


class SqliteJournal:
    """``Journal`` in three tables of the vault."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def begin(self, run: Run) -> int:
        return int(self._db.write(_BEGIN, _values(run))[0][0])

    def update(self, run: Run) -> None:
        self._db.write(_TELL, (*_values(run), run.id))

    def run(self, run_id: int) -> Run | None:
        row = self._db.row(_RUN, (run_id,))
        return _run(row) if row else None

    def runs(self, limit: int, lane: str = "", phase: str = "") -> list[Run]:
        asked = {"lane": lane, "phase": phase, "limit": max(limit, 0)}
        return [_run(row) for row in self._db.rows(_RUNS, asked)]

    def trim(self, before: str, *, at_most: int | None = None) -> int:
        return len(self._db.write(_TRIM, (before, -1 if at_most is None else at_most)))

    def replace(self, replacement: Replacement) -> int:
        row = (replacement.document_id, replacement.why, replacement.at, replacement.undone_at)
        with self._db.atomic():
            found = int(self._db.write(_REPLACE, row)[0][0])
            replaced = sorted(set(replacement.replaced))
            self._db.write_many("insert into replaced values (?, ?)", [(found, one) for one in replaced])
        return found

    def replacements(self, document_id: int | None = None, *, undone: bool = False) -> list[Replacement]:
        asked = {"document": document_id, "undone": int(undone)}
        return [self._replacement(row) for row in self._db.rows(_REPLACEMENTS, asked)]

    def undo(self, replacement_id: int, at: str) -> bool:
        self._db.write(
            "update replacements set undone_at = ? where id = ? and undone_at = ''", (at, replacement_id)
        )
        return self._db.changes() > 0

    def _replacement(self, row: Row) -> Replacement:
        document_id, why, at, undone_at, number = row
        of_it = self._db.rows(
            "select document_id from replaced where replacement = ? order by document_id", (number,)
        )
        return Replacement(document_id, tuple(one[0] for one in of_it), why, at, undone_at, number)


def _values(run: Run) -> tuple[str | int, ...]:
    told = {name: getattr(run, name) for name in _FIELDS}
    metrics = json.dumps(dict(run.metrics), ensure_ascii=False, sort_keys=True)
    return tuple((told | {"metrics": metrics, "status": run.status.value}).values())


def _run(row: Row) -> Run:
    *values, number = row
    told = dict(zip(_FIELDS, values, strict=True))
    read = {"metrics": json.loads(told["metrics"]), "status": RunStatus(told["status"]), "id": number}
    return Run(**{**told, **read})


_SELECT = "select document_id, act, by, at, why, before, id from acts"
_ADD = "insert into acts (document_id, act, by, at, why, before) values (?, ?, ?, ?, ?, ?) returning id"
_LATEST = f"{_SELECT} where :document is null or document_id = :document order by id desc limit :limit"
# A select with max() takes the other columns from the row that holds the maximum (a SQLite guarantee).
_LAST = "select document_id, at, max(id) from acts where act = ? group by document_id"


class SqliteActs:
    """``ActJournal`` in one table of the vault."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def add(self, entries: Iterable[ActEntry]) -> list[int]:
        with self._db.atomic():
            return [int(self._db.write(_ADD, tuple(entry[:-1]))[0][0]) for entry in entries]

    def get(self, act_id: int) -> ActEntry | None:
        row = self._db.row(f"{_SELECT} where id = ?", (act_id,))
        return _entry(row) if row else None

    def latest(self, limit: int, document_id: int | None = None) -> list[ActEntry]:
        rows = self._db.rows(_LATEST, {"document": document_id, "limit": max(limit, 0)})
        return [_entry(row) for row in rows]

    def last(self, act: Act) -> Mapping[int, str]:
        return {row[0]: row[1] for row in self._db.rows(_LAST, (act.value,))}

    def forget(self, document_id: int) -> int:
        self._db.write("update acts set why = '' where document_id = ? and why <> ''", (document_id,))
        return self._db.changes()


def _entry(row: Row) -> ActEntry:
    document_id, act, *rest = row
    return ActEntry(document_id, Act(act), *rest)


_ADD_TEXT = "insert or ignore into forgotten_texts (salt, digest) values (?, ?)"


class SqliteForgottenTexts:
    """``ForgottenTexts`` in one table; new digests are salted with the id of the vault."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def add(self, hashes: Iterable[str]) -> None:
        salt = str(self._db.meta("vault_id"))
        self._db.write_many(_ADD_TEXT, [_fingerprint(salt, one) for one in hashes])

    def holds(self, hash: str) -> bool:
        # The primary key starts with the salt, so the distinct salts (rarely more than one) are read from the
        # index.
        salts = self._db.rows("select distinct salt from forgotten_texts")
        marks = [_fingerprint(salt, hash) for (salt,) in salts]
        return any(
            self._db.row("select 1 from forgotten_texts where salt = ? and digest = ?", mark)
            for mark in marks
        )


def _fingerprint(salt: str, hash: str) -> tuple[str, str]:
    return salt, sha256(f"{salt}:{hash}".encode()).hexdigest()
