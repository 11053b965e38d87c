from __future__ import annotations

import json

from clawmem.adapters.sqlite.database import Database
from clawmem.adapters.sqlite.scope import documents_in
from clawmem.ports.records import Scope, Vector

_MOST = 4096  # vec0 answers no more than this
_NEAREST = "select key, 1 - distance from vector_vec0 where embedding match :vector and k = :k"
# A list of keys is the one filter that vec0 applies before it cuts, whatever the rest of the query says.
_AMONG = " and key in (select value from json_each(:keys))"
_KEYS = "select rowid from vector_vec0_rowids where rowid >> 20 in ({seen})"


class Vec0Table:
    """Vectors in sqlite-vec's ``vec0``: exact, in C. Made with the first vector, whose length it takes."""

    name = "vec0"

    def __init__(self, db: Database) -> None:
        self._db = db

    def exists(self) -> bool:
        return bool(self._db.value("select 1 from sqlite_schema where name = 'vector_vec0'"))

    def length(self) -> int:
        first = self._db.value("select rowid from vector_vec0_rowids limit 1")
        if first is None:
            return 0
        return len(self._db.value("select embedding from vector_vec0 where key = ?", (first,)))

    def insert(self, rows: list[tuple[int, Vector]]) -> None:
        if self.exists() and not self.length():
            self.drop()  # it was made for the vectors that are gone, perhaps of another length
        if not self.exists():
            self._create(len(rows[0][1]) // 4)
        # vec0 knows no upsert.
        self._db.write_many("delete from vector_vec0 where key = ?", [(key,) for key, _ in rows])
        self._db.write_many("insert into vector_vec0 (key, embedding) values (?, ?)", rows)

    def delete(self, first: int, last: int) -> None:
        keys = self._db.rows(
            "select rowid from vector_vec0_rowids where rowid between ? and ?", (first, last)
        )
        self._db.write_many("delete from vector_vec0 where key = ?", keys)

    def nearest(self, vector: Vector, limit: int, scope: Scope) -> list[tuple[int, float]]:
        bindings = {"vector": vector, "k": min(limit, _MOST)}
        seen, limits = documents_in(scope)
        if not seen:
            return self._db.rows(_NEAREST, bindings)
        keys = [row[0] for row in self._db.rows(_KEYS.format(seen=seen), limits)]
        if not keys:
            return []
        return self._db.rows(_NEAREST + _AMONG, {**bindings, "keys": json.dumps(keys)})

    def count(self) -> int:
        return int(self._db.value("select count(*) from vector_vec0_rowids"))

    def drop(self) -> None:
        self._db.write("drop table vector_vec0")

    def _create(self, dimensions: int) -> None:
        self._db.write(
            "create virtual table vector_vec0 using vec0 "
            f"(key integer primary key, embedding float[{dimensions}] distance_metric=cosine)"
        )
