from __future__ import annotations

import json
import threading
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from clawmem.adapters.sqlite.abandoning import broken_tables, empty_table
from clawmem.adapters.sqlite.database import Database
from clawmem.adapters.sqlite.derived_index import Commits, blames_index
from clawmem.adapters.sqlite.embeddings import check_vectors
from clawmem.adapters.sqlite.keys import pack, span
from clawmem.adapters.sqlite.lru_cache import LruCache
from clawmem.adapters.sqlite.scope import documents_in
from clawmem.adapters.sqlite.short_vectors import BYTES, all_shortened, lengthened
from clawmem.adapters.sqlite.vector_scan import RowFilter, batches, cosines, nearest, ranked
from clawmem.ports.errors import VaultDamaged
from clawmem.ports.records import EVERYTHING, Hit, Scope, Vector, VectorEntry

if TYPE_CHECKING:
    from clawmem.adapters.sqlite.quantized_vectors import QuantizedVectors

_JOINED = "vector_entries as entry left join space_vectors as recorded on recorded.id = entry.record"
_VECTOR = "coalesce(entry.vector, recorded.vector)"
# The columns are named as the scan needs them; entries without a vector are damage, which `faults` counts.
_ENTRIES = f"(select entry.key, {_VECTOR} as vector from {_JOINED} where {_VECTOR} is not null)"
_SIZE = f"select length({_VECTOR}) from {_JOINED} limit 1"
_THESE = f"select key, vector from {_ENTRIES} where key in (select value from json_each(?))"
_PUT = """
insert or replace into vector_entries (key, record, vector)
select :key, id, iif(id is null, :vector, null) from (select (
    select recorded.id from fragments join space_vectors as recorded using (text_hash)
     where key = :key and space = (select id from spaces where state = 'serving') and recorded.vector = :vector
) as id)
"""
_WRONG = f"""
select count(*) from {_JOINED} left join fragments on fragments.key = entry.key
 where {_VECTOR} is null or recorded.text_hash <> fragments.text_hash
    or entry.vector <> (select vector from vectors where vectors.text_hash = fragments.text_hash)
"""

# Number of searches after which a process caches the vectors. Reading them takes as long as four searches.
ASKED_OFTEN = 5
MOST_CONTENTS = 100  # contents with a search count; above this number all counts restart
MOST_KEPT = 40_000_000  # bytes, for the whole process

_ASKED: Counter[str] = Counter()
_READING = threading.Lock()  # one thread reads the vectors; the others search without the cache until it has
_QUICK: LruCache[QuantizedVectors | None] = LruCache(
    MOST_KEPT, lambda quick: quick.size_bytes if quick else 0
)


class SqliteVectorIndex(Commits):
    """
    ``VectorIndex`` in a table of keys, each with the record of its vector: exact search over the records.

    A vector is stored a second time only if no record has it. After several searches a process caches the
    vectors quantized, and compares exactly only the candidates that may be among the nearest. The result is
    the same, in a quarter of the time. The cache is valid for one content, which has a random id that every
    change replaces.
    """

    in_process = True
    method = "exact scan"
    tables = ("vector_entries",)
    _role = "vectors"

    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self._db = db

    @blames_index
    def put(self, entries: Iterable[VectorEntry]) -> None:
        rows = {pack(entry.key): entry.vector for entry in entries}
        length = 4 // BYTES * self._size() or len(next(iter(rows.values()), b""))
        if rows:
            check_vectors(rows.values(), length)
            stored = zip(rows, all_shortened(rows.values()), strict=True)
            with self._db.atomic():
                self._db.write_many(_PUT, [{"key": key, "vector": vector} for key, vector in stored])
                self._rename()

    @blames_index
    def remove(self, document_id: int) -> None:
        with self._db.atomic():
            self._db.write("delete from vector_entries where key between ? and ?", span(document_id))
            if self._db.changes():
                self._rename()

    @blames_index
    def search(self, vector: Vector, limit: int, scope: Scope = EVERYTHING) -> list[Hit]:
        return ranked(vector, self._size(), limit, lambda: self._nearest(vector, limit, scope))

    @blames_index
    def count(self) -> int:
        return int(self._db.value("select count(*) from vector_entries"))

    def clear(self) -> None:
        with self._db.atomic():
            empty_table(self._db, "vector_entries")
            self._rename()
            self._forget_marker()

    def optimize(self) -> None:
        """Do nothing: this index has nothing to optimize."""

    def faults(self) -> list[str]:
        """Compare every entry with the record of its vector."""
        if broken := broken_tables(self._db, self.tables):
            return [f"{name} is broken" for name in broken]
        try:
            wrong = int(self._db.value(_WRONG))
        except VaultDamaged:
            return []  # a table of the records is broken, which `Vault.check` reports
        return [f"{wrong} vectors of its table differ from the records"] if wrong else []

    def _size(self) -> int:
        return int(self._db.value(_SIZE) or 0)

    def _nearest(self, vector: Vector, limit: int, scope: Scope) -> list[tuple[int, float]]:
        quick = self._quick()
        if quick is None:
            return nearest(self._db, _ENTRIES, vector, limit, RowFilter(scope))
        keys = json.dumps(quick.candidates(vector, limit, self._documents(scope)))
        return cosines(vector, self._db.rows(_THESE, (keys,)))

    def _rename(self) -> None:
        self._db.write("insert or replace into meta values ('vector_content', hex(randomblob(8)))")

    def _quick(self) -> QuantizedVectors | None:
        """
        Return all vectors, quantized, once this content has been searched often; None before, or without content id.
        """
        content = self._db.meta("vector_content")
        if content is None:
            return None
        if not _is_asked_often(content) or not _READING.acquire(blocking=False):
            return None
        try:
            return _QUICK.get(content, self._rounded)
        finally:
            _READING.release()

    def _rounded(self) -> QuantizedVectors | None:
        from clawmem.adapters.sqlite.quantized_vectors import rounded  # also imports numpy

        return rounded(self._chunks(), self.count())

    def _chunks(self) -> Iterator[tuple[bytes, bytes]]:
        for rows in batches(self._db, _ENTRIES):
            yield (
                array("q", [key for key, _ in rows]).tobytes(),
                lengthened(b"".join(vector for _, vector in rows)),
            )

    def _documents(self, scope: Scope) -> Collection[int] | None:
        seen, bindings = documents_in(scope)
        return [number for (number,) in self._db.rows(seen, bindings)] if seen else None


def _is_asked_often(content: str) -> bool:
    if len(_ASKED) > MOST_CONTENTS:
        _ASKED.clear()
    _ASKED[content] += 1
    return _ASKED[content] > ASKED_OFTEN
