from __future__ import annotations

import json
from collections.abc import Iterator
from heapq import nlargest
from itertools import islice
from typing import Any

from clawmem.adapters.sqlite.database import Database
from clawmem.ports.records import Scope, Vector

_ROWS_AT_ONCE = 4096  # bounds the memory of a scan, whatever the vault's size
_ROWS = "select key, vector from vector_scan"
_SCOPE = """
 where key >> 20 in (select id from documents where collection in (select value from json_each(:collections)))
"""


class ScanTable:
    """Vectors in a plain table, compared one with all by numpy: for platforms without the extension."""

    name = "exact scan"

    def __init__(self, db: Database) -> None:
        self._db = db

    def exists(self) -> bool:
        return bool(self._db.value("select 1 from sqlite_schema where name = 'vector_scan'"))

    def length(self) -> int:
        return int(self._db.value("select length(vector) from vector_scan limit 1") or 0)

    def insert(self, rows: list[tuple[int, Vector]]) -> None:
        self._db.write(
            "create table if not exists vector_scan (key integer primary key, vector blob not null)"
        )
        self._db.write_many("insert or replace into vector_scan values (?, ?)", rows)

    def delete(self, first: int, last: int) -> None:
        self._db.write("delete from vector_scan where key between ? and ?", (first, last))

    def nearest(self, vector: Vector, limit: int, scope: Scope) -> list[tuple[int, float]]:
        scored = self._scored(vector, scope)
        return nlargest(limit, scored, key=lambda row: (row[1], -row[0]))

    def count(self) -> int:
        return int(self._db.value("select count(*) from vector_scan"))

    def drop(self) -> None:
        self._db.write("drop table vector_scan")

    def _scored(self, vector: Vector, scope: Scope) -> Iterator[tuple[int, float]]:
        import numpy as np

        question = np.frombuffer(vector, "<f4")
        question = question / np.linalg.norm(question)  # (dim,)
        for rows in self._batches(scope):
            matrix = np.frombuffer(b"".join(blob for _, blob in rows), "<f4").reshape(
                len(rows), -1
            )  # (n, dim)
            yield from zip((key for key, _ in rows), np.clip(matrix @ question, -1, 1).tolist(), strict=True)

    def _batches(self, scope: Scope) -> Iterator[list[Any]]:
        names = {"collections": json.dumps(sorted(scope.collections))} if scope.collections else {}
        rows = self._db.stream(_ROWS + (_SCOPE if scope.collections else ""), names)
        while batch := list(islice(rows, _ROWS_AT_ONCE)):
            yield batch
