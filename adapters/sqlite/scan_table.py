from __future__ import annotations

import json
from collections.abc import Iterator
from heapq import nlargest
from itertools import islice
from typing import cast

from clawmem.adapters.sqlite.database import Database
from clawmem.ports.records import EVERYTHING, Scope, Vector

_ROWS_AT_ONCE = 4096  # bounds the memory of a scan, whatever the vault's size
_SCOPE = """
 where key >> 20 in (select id from documents where collection in (select value from json_each(:collections)))
"""


class ScanTable:
    """Vectors in a plain table, compared one with all by numpy: for platforms without the extension."""

    name = "exact scan"
    source = "vector_scan"

    def __init__(self, db: Database) -> None:
        self._db = db

    def exists(self) -> bool:
        return bool(self._db.value("select 1 from sqlite_schema where name = 'vector_scan'"))

    def length(self) -> int:
        return int(self._db.value(f"select length(vector) from {self.source} limit 1") or 0)

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
        return int(self._db.value(f"select count(*) from {self.source}"))

    def drop(self) -> None:
        self._db.write("drop table vector_scan")

    def batches(self, scope: Scope = EVERYTHING) -> Iterator[list[tuple[int, Vector]]]:
        """All keys with their vectors, some thousand at once."""
        names = {"collections": json.dumps(sorted(scope.collections))} if scope.collections else {}
        sql = f"select key, vector from {self.source}"
        rows = self._db.stream(sql + (_SCOPE if scope.collections else ""), names)
        while batch := list(islice(rows, _ROWS_AT_ONCE)):
            yield cast("list[tuple[int, Vector]]", batch)

    def _scored(self, vector: Vector, scope: Scope) -> Iterator[tuple[int, float]]:
        import numpy as np

        question = np.frombuffer(vector, "<f4")
        question = question / np.linalg.norm(question)  # (dim,)
        for rows in self.batches(scope):
            matrix = np.frombuffer(b"".join(blob for _, blob in rows), "<f4").reshape(
                len(rows), -1
            )  # (n, dim)
            yield from zip((key for key, _ in rows), np.clip(matrix @ question, -1, 1).tolist(), strict=True)


class CanonicalScan(ScanTable):
    """The same over the records themselves: what to read while no table of vectors is up to date."""

    source = """(
        select key, vector from vectors join fragments using (text_hash)
          join documents on documents.id = key >> 20 and documents.inactive is null
    )"""

    def exists(self) -> bool:
        return True
