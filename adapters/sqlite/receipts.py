from __future__ import annotations

import json
from collections.abc import Iterable

from clawmem.adapters.sqlite.best_effort import best_effort_writer
from clawmem.adapters.sqlite.database import Database
from clawmem.ports.receipts import ReceiptCounts, StoredReceipt

_COLUMNS = "select recall_id, asked_at, content from receipts"
_TRIM = """
delete from receipts where recall_id in
       (select recall_id from receipts where asked_at < ? order by asked_at limit ?)
"""
_THESE = "recall_id in (select value from json_each(?))"
_NO_LIMIT = -1


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
        with best_effort_writer(self._db) as writer:
            writer.write(f"delete from receipts where {_THESE}", (asked,))
            return writer.changes()

    def counts(self) -> ReceiptCounts:
        row = self._db.row("select count(*), coalesce(sum(length(content)), 0) from receipts")
        return ReceiptCounts(*row) if row else ReceiptCounts()

    def trim(self, before: str, *, at_most: int | None = None) -> int:
        if self._db.row("select 1 from receipts where asked_at < ? limit 1", (before,)) is None:
            return 0
        with best_effort_writer(self._db) as writer:
            writer.write(_TRIM, (before, _NO_LIMIT if at_most is None else at_most))
            return writer.changes()
