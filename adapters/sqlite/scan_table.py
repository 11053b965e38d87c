from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator
from heapq import nlargest
from itertools import islice
from typing import cast

from clawmem.adapters.sqlite.abandoning import drop_virtual_table
from clawmem.adapters.sqlite.database import Database
from clawmem.adapters.sqlite.keys import unpack
from clawmem.adapters.sqlite.scope import documents_in
from clawmem.ports.errors import BadVector
from clawmem.ports.records import EVERYTHING, Hit, Scope, Vector

_ROWS_AT_ONCE = 4096  # bounds the memory of a scan for vaults of any size


class ScanTable:
    """Vectors in a plain table, compared one by one with numpy, for platforms without the vector extension."""

    name = "exact scan"
    source = table = "vector_scan"

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

    def nearest(
        self, vector: Vector, limit: int, scope: Scope, documents: Collection[int] | None = None
    ) -> list[tuple[int, float]]:
        scored = self._scored(vector, scope, documents)
        return nlargest(limit, scored, key=lambda row: (row[1], -row[0]))

    def count(self) -> int:
        return int(self._db.value(f"select count(*) from {self.source}"))

    def vectors(self) -> Iterator[list[tuple[int, Vector]]]:
        """Iterate over all keys with their vectors, in batches of some thousand."""
        yield from self.batches()

    def misplaced(self) -> int:
        """Return 0: a key and its vector are in one row."""
        return 0

    def drop(self) -> None:
        drop_virtual_table(self._db, self.table)

    def batches(
        self, scope: Scope = EVERYTHING, documents: Collection[int] | None = None
    ) -> Iterator[list[tuple[int, Vector]]]:
        """Iterate over keys with their vectors in batches of some thousand; only those of *documents*, if given."""
        seen, bindings = documents_in(scope)
        limits = [f"key >> 20 in ({seen})"] if seen else []
        if documents is not None:
            limits.append("key >> 20 in (select value from json_each(:documents))")
            bindings["documents"] = json.dumps(list(documents))
        sql = f"select key, vector from {self.source} where {' and '.join(limits) or 'true'}"
        rows = self._db.stream(sql, bindings)
        while batch := list(islice(rows, _ROWS_AT_ONCE)):
            yield cast("list[tuple[int, Vector]]", batch)

    def _scored(
        self, vector: Vector, scope: Scope, documents: Collection[int] | None
    ) -> Iterator[tuple[int, float]]:
        import numpy as np

        question = np.frombuffer(vector, "<f4")
        question = question / np.linalg.norm(question)  # shape (dim,)
        for rows in self.batches(scope, documents):
            matrix = np.frombuffer(b"".join(blob for _, blob in rows), "<f4").reshape(
                len(rows), -1
            )  # shape (n, dim)
            yield from zip((key for key, _ in rows), np.clip(matrix @ question, -1, 1).tolist(), strict=True)


class CanonicalScan(ScanTable):
    """The same scan over the canonical vectors, used while no table of the index is up to date."""

    # Reads the vectors in file order; the index would read the file at random positions.
    source = """(
        select key, vector from space_vectors not indexed cross join fragments using (text_hash)
          join documents on documents.id = key >> 20 and documents.inactive is null
         where space = (select id from spaces where state = 'serving')
    )"""

    def exists(self) -> bool:
        return True


def ranked(
    vector: Vector, length: int, limit: int, nearest: Callable[[], list[tuple[int, float]]]
) -> list[Hit]:
    """
    Return the hits of *nearest*, best first; an empty list for a query that cannot have a result.

    Raises:
        BadVector: *vector* does not have *length* bytes, the length of the stored vectors.
    """
    if limit < 1 or not length or not any(vector):
        return []
    if len(vector) != length:
        raise BadVector(f"the question has {len(vector) // 4} dimensions, the vault's vectors {length // 4}")
    # Equal cosines can differ by a rounding error; for scores equal in single precision the key decides.
    hits = [Hit(unpack(key), score) for key, score in nearest()]
    return sorted(hits, key=lambda hit: (-hit.score, hit.key))[:limit]
