from __future__ import annotations

from collections.abc import Mapping

from clawmem.adapters.sqlite.best_effort import best_effort_writer
from clawmem.adapters.sqlite.database import Database
from clawmem.ports.model_answers import answer_key

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
