from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from clawmem.adapters.sqlite.abandoning import broken_tables
from clawmem.adapters.sqlite.database import Database
from clawmem.adapters.sqlite.derived_index import Commits, blames_index
from clawmem.adapters.sqlite.embeddings import check_vector
from clawmem.adapters.sqlite.keys import pack, span
from clawmem.adapters.sqlite.scan_table import CanonicalScan, ScanTable, ranked
from clawmem.adapters.sqlite.sqlite_errors import VirtualTableDamaged
from clawmem.adapters.sqlite.vec0_table import Vec0Table
from clawmem.ports.errors import VaultDamaged
from clawmem.ports.records import EVERYTHING, Hit, Scope, Vector, VectorEntry

_RECORDED = """
select key, vector from fragments join vectors using (text_hash) where key in (select value from json_each(?))
"""


class VectorTable(Protocol):
    """A table of vectors by packed key in SQLite, with a search for the nearest vectors."""

    name: str
    table: str

    def exists(self) -> bool:
        """Whether the table exists."""

    def length(self) -> int:
        """Return the length of the vectors in bytes; 0 without vectors."""

    def insert(self, rows: list[tuple[int, Vector]]) -> None:
        """Add vectors, or replace those with the same keys."""

    def delete(self, first: int, last: int) -> None:
        """Delete the vectors with keys from *first* to *last*, inclusive."""

    def nearest(self, vector: Vector, limit: int, scope: Scope) -> list[tuple[int, float]]:
        """Return the keys in scope nearest to *vector*, with their cosines."""

    def count(self) -> int:
        """Return the number of vectors."""

    def vectors(self) -> Iterator[list[tuple[int, Vector]]]:
        """Iterate over all keys and vectors in batches."""

    def misplaced(self) -> int:
        """Return the number of keys that some searches do not find, or not with their vector."""

    def drop(self) -> None:
        """Drop the table, even if it is damaged."""


class SqliteVectorIndex(Commits):
    """
    ``VectorIndex`` in a ``vec0`` table, or in a plain table of blobs if the extension is missing.

    Programs with and without the extension may share a vault. Each writes only its own table and records the
    table's name. A table that missed writes of the other program is refilled from the canonical vectors
    before the next write; until then searches scan the canonical vectors.
    """

    in_process = True
    _role = "vectors"

    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self._db = db
        self._own: VectorTable = Vec0Table(db) if db.has_vectors else ScanTable(db)
        self._records = CanonicalScan(db)

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables of the index, without the shadow tables of `vec0`."""
        return (self._own.table,)

    @property
    def method(self) -> str:
        return self._table.name

    def catch_up(self) -> None:
        """Refill the own table if another table was written last."""
        if not self._is_latest():
            self.refill()

    @blames_index
    def refill(self) -> None:
        """Rebuild the own table from the canonical vectors; an empty index that is up to date stays unchanged."""
        if self._is_latest() and not self.count():
            return
        with self._db.atomic():
            self._empty()
            for batch in self._records.batches():
                self._own.insert(batch)

    @blames_index
    def put(self, entries: Iterable[VectorEntry]) -> None:
        rows = list({pack(entry.key): entry.vector for entry in entries}.items())
        length = self._length() or (len(rows[0][1]) if rows else 0)
        for _, vector in rows:
            check_vector(vector, length)
        if rows:
            with self._db.atomic():
                self.catch_up()
                self._own.insert(rows)

    @blames_index
    def remove(self, document_id: int) -> None:
        if not self._table.exists():
            return
        with self._db.atomic():
            self.catch_up()
            if self._own.exists():
                self._own.delete(*span(document_id))

    @blames_index
    def search(self, vector: Vector, limit: int, scope: Scope = EVERYTHING) -> list[Hit]:
        length = self._length()
        return ranked(vector, length, limit, lambda: self._table.nearest(vector, limit, scope))

    @blames_index
    def count(self) -> int:
        table = self._table
        return table.count() if table.exists() else 0

    def clear(self) -> None:
        with self._db.atomic():
            self._empty()
            self._forget_marker()

    def optimize(self) -> None:
        """Do nothing: this index has nothing to optimize."""

    def faults(self) -> list[str]:
        """Compare every vector with the record that it was built from."""
        if not self._is_latest() or not self._own.exists():
            return []
        if broken := broken_tables(self._db, self.tables):
            return [f"{name} is broken" for name in broken]
        try:
            differing = sum(map(self._differing, self._own.vectors()))
            misplaced = self._own.misplaced()
        except (VirtualTableDamaged, ArithmeticError, ValueError, LookupError):
            return ["a table of the vectors is broken"]
        except VaultDamaged:
            return []  # a table of the records is broken, which `Vault.check` reports
        found = [f"{differing} vectors of its table differ from the records"] if differing else []
        return [*found, f"{misplaced} vectors are not in their place"] if misplaced else found

    def _differing(self, held: Sequence[tuple[int, Vector]]) -> int:
        known: dict[int, Vector] = dict(self._db.rows(_RECORDED, (json.dumps([key for key, _ in held]),)))
        return sum(known.get(key, vector) != vector for key, vector in held)

    def _empty(self) -> None:
        if self._own.exists():
            self._own.drop()
        if not self._is_latest():
            self._db.write("insert or replace into meta values ('vector_table', ?)", (self._own.name,))

    @property
    def _table(self) -> VectorTable:
        return self._own if self._is_latest() else self._records

    def _is_latest(self) -> bool:
        latest = self._db.meta("vector_table")
        return (latest or Vec0Table.name) == self._own.name

    def _length(self) -> int:
        table = self._table
        return table.length() if table.exists() else 0
