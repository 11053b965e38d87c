from __future__ import annotations

import json
from collections.abc import Mapping

from clawmem.adapters.sqlite.best_effort import best_effort_writer
from clawmem.adapters.sqlite.database import Database
from clawmem.ports.model_failures import ModelFailure, ModelRole

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
