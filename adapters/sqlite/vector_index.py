from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from clawmem.adapters.sqlite.database import Database
from clawmem.adapters.sqlite.embeddings import check_vector
from clawmem.adapters.sqlite.keys import pack, span, unpack
from clawmem.adapters.sqlite.scan_table import ScanTable
from clawmem.adapters.sqlite.vec0_table import Vec0Table
from clawmem.ports.errors import BadVector
from clawmem.ports.records import EVERYTHING, FragmentKey, Hit, Scope, Vector


class VectorTable(Protocol):
    """One way of keeping vectors by packed key in SQLite, and of finding the nearest."""

    name: str

    def exists(self) -> bool: ...
    def length(self) -> int: ...
    def insert(self, rows: list[tuple[int, Vector]]) -> None: ...
    def delete(self, first: int, last: int) -> None: ...
    def nearest(self, vector: Vector, limit: int, scope: Scope) -> list[tuple[int, float]]: ...
    def count(self) -> int: ...
    def drop(self) -> None: ...


class SqliteVectorIndex:
    """``VectorIndex`` in a ``vec0`` table, in a plain table of blobs where the extension is missing."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._table: VectorTable = Vec0Table(db) if db.has_vectors else ScanTable(db)

    @property
    def method(self) -> str:
        return self._table.name

    def put(self, vectors: Iterable[tuple[FragmentKey, Vector]]) -> None:
        rows = [(pack(key), vector) for key, vector in dict(vectors).items()]
        length = self._length() or (len(rows[0][1]) if rows else 0)
        for _, vector in rows:
            check_vector(vector, length)
        if rows:
            with self._db.atomic():
                self._table.insert(rows)

    def remove(self, document_id: int) -> None:
        if self._table.exists():
            with self._db.atomic():
                self._table.delete(*span(document_id))

    def search(self, vector: Vector, limit: int, scope: Scope = EVERYTHING) -> list[Hit]:
        length = self._length()
        if limit < 1 or not length or not any(vector):
            return []
        if len(vector) != length:
            raise BadVector(
                f"the question has {len(vector) // 4} dimensions, the vault's vectors {length // 4}"
            )
        nearest = self._table.nearest(vector, limit, scope)
        # The same cosine can come back a rounding apart; keys decide between what is equal in single precision.
        hits = sorted((Hit(unpack(key), score) for key, score in nearest), key=lambda h: (-h.score, h.key))
        return hits[:limit]

    def count(self) -> int:
        return self._table.count() if self._table.exists() else 0

    def clear(self) -> None:
        if self._table.exists():
            self._table.drop()

    def _length(self) -> int:
        return self._table.length() if self._table.exists() else 0
