from __future__ import annotations

from clawmem.adapters.sqlite.database import Database

# The comparison is a row value, so that one index answers it; two separate conditions could not use the
# index.
_BESIDE = """
select id from documents
 where inactive is null and (authored_at, id) {side} (select authored_at, id from documents where id = :focus)
       {among} order by authored_at {order}, id {order} limit :limit
"""
_AMONG = "and collection = :collection"


class SqliteChronology:
    """``Chronology`` over the documents of the vault."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def before(self, document_id: int, limit: int, collection: str | None = None) -> list[int]:
        return self._beside("<", "desc", document_id, limit, collection)[::-1]

    def after(self, document_id: int, limit: int, collection: str | None = None) -> list[int]:
        return self._beside(">", "asc", document_id, limit, collection)

    def _beside(self, side: str, order: str, focus: int, limit: int, collection: str | None) -> list[int]:
        among = "" if collection is None else _AMONG
        sql = _BESIDE.format(side=side, order=order, among=among)
        asked = {"focus": focus, "limit": max(limit, 0), "collection": collection or ""}
        return [row[0] for row in self._db.rows(sql, asked)]
