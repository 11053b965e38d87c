from __future__ import annotations

import json
from collections.abc import Mapping

from clawmem.adapters.sqlite.best_effort import best_effort_writer
from clawmem.adapters.sqlite.database import Database
from clawmem.ports.model_records import Cost, ModelRole, answer_key
from clawmem.ports.status import ModelFailure

_GET = "select answer from model_answers where key = ?"
_KEEP = "insert or replace into model_answers (key, purpose, answer, kept_at) values (?, ?, ?, ?)"
_OLD = "select 1 from model_answers where kept_at < ? limit 1"
_TRIM = """
delete from model_answers
 where key in (select key from model_answers where kept_at < ? order by kept_at limit ?)
"""
_NO_LIMIT = -1
_COUNTS = "select purpose, count(*) from model_answers group by purpose"


class SqliteModelAnswers:
    """``ModelAnswers`` in a table of the vault, written through the best-effort writer."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def get(self, model: str, purpose: str, question: str) -> str | None:
        found: str | None = self._db.value(_GET, (answer_key(model, purpose, question),))
        return found

    def keep(self, model: str, purpose: str, question: str, answer: str, *, at: str) -> None:
        self.keep_all(model, purpose, {question: answer}, at=at)

    def keep_all(self, model: str, purpose: str, answers: Mapping[str, str], *, at: str) -> None:
        rows = [
            (answer_key(model, purpose, question), purpose, answer, at)
            for question, answer in answers.items()
        ]
        if rows:
            with best_effort_writer(self._db) as writer, writer.atomic():
                writer.write_many(_KEEP, rows)

    def trim(self, before: str, *, at_most: int | None = None) -> int:
        if self._db.row(_OLD, (before,)) is None:
            return 0
        with best_effort_writer(self._db) as writer:
            writer.write(_TRIM, (before, _NO_LIMIT if at_most is None else at_most))
            return writer.changes()

    def counts(self) -> dict[str, int]:
        return dict(self._db.rows(_COUNTS))


_RECORD = """
insert into meta (name, value) values (?, ?) on conflict (name) do update set value = excluded.value
"""
_NAME = "model_failure.{}"


class SqliteModelFailures:
    """``ModelFailures`` in the table of metadata of the vault, one JSON value per role."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def record(self, failure: ModelFailure) -> None:
        kept = [failure.model, failure.failed_at, failure.reason, failure.answered_at]
        with best_effort_writer(self._db) as writer:
            writer.write(_RECORD, (_NAME.format(failure.role), json.dumps(kept)))

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
