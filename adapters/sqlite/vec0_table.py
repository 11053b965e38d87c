from __future__ import annotations

import json
import threading
from array import array
from collections import Counter
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from clawmem.adapters.sqlite.abandoning import drop_virtual_table
from clawmem.adapters.sqlite.database import Database
from clawmem.adapters.sqlite.lru_cache import LruCache
from clawmem.adapters.sqlite.scope import documents_in
from clawmem.ports.records import Scope, Vector

if TYPE_CHECKING:
    from clawmem.adapters.sqlite.quantized_vectors import QuantizedVectors

_MOST = 4096  # maximum number of results of vec0
_NEAREST = "select key, 1 - distance from vector_vec0 where embedding match :vector and k = :k"
# A list of keys is the only filter that vec0 applies before it cuts the result to k.
_AMONG = " and key in (select value from json_each(:keys))"
_KEYS = "select rowid from vector_vec0_rowids where rowid >> 20 in ({seen})"
# Read from the records, where a row is twenty times as fast; only the rest is read from vec0.
_SCORES = """
select value, coalesce(
    (select 1 - vec_distance_cosine(vector, :vector) from fragments join vectors using (text_hash) where key = value),
    (select 1 - vec_distance_cosine(embedding, :vector) from vector_vec0 where key = value)
) from json_each(:keys)
"""

# The chunks of vec0: each row has many keys and vectors, and a validity bit for each.
_CHUNKS = """
select rowids, validity, vectors from vector_vec0_chunks as chunk
  join vector_vec0_vector_chunks00 as part on part.rowid = chunk.chunk_id
"""

_CHUNK_KEYS = "select chunk_id, rowids, validity from vector_vec0_chunks"
_PLACES = """
select rowid, chunk_offset from vector_vec0_rowids
 where rowid in (select value from json_each(?)) and chunk_id = ?
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


class Vec0Table:
    """
    Vectors in sqlite-vec's ``vec0``: exact search in C. The first vector determines the dimensions.

    After several searches a process caches the vectors quantized, and compares exactly only the candidates
    that may be among the nearest. The result is the same, in a quarter of the time. The cache is valid for
    one content, which has a random id that every change replaces.
    """

    name = "vec0"
    table = "vector_vec0"

    def __init__(self, db: Database) -> None:
        self._db = db

    def exists(self) -> bool:
        return bool(self._db.value("select 1 from sqlite_schema where name = 'vector_vec0'"))

    def length(self) -> int:
        first = "(select rowid from vector_vec0_rowids limit 1)"
        return int(self._db.value(f"select length(embedding) from vector_vec0 where key = {first}") or 0)

    def insert(self, rows: list[tuple[int, Vector]]) -> None:
        if self.exists() and not self.length():
            self.drop()  # it was created for vectors that are deleted by now, perhaps of another length
        if not self.exists():
            self._create(len(rows[0][1]) // 4)
        # vec0 has no upsert.
        self._db.write_many("delete from vector_vec0 where key = ?", [(key,) for key, _ in rows])
        self._db.write_many("insert into vector_vec0 (key, embedding) values (?, ?)", rows)
        self._rename()

    def delete(self, first: int, last: int) -> None:
        keys = self._db.rows(
            "select rowid from vector_vec0_rowids where rowid between ? and ?", (first, last)
        )
        self._db.write_many("delete from vector_vec0 where key = ?", keys)
        self._rename()

    def nearest(self, vector: Vector, limit: int, scope: Scope) -> list[tuple[int, float]]:
        if quick := self._quick():
            return self._scores(vector, quick.candidates(vector, limit, self._documents(scope)))
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

    def vectors(self) -> Iterator[list[tuple[int, Vector]]]:
        """Iterate over all keys with their vectors, a chunk at a time, without the consistency checks of `vec0`."""
        for rowids, validity, vectors in self._db.stream(_CHUNKS):
            keys = array("q", rowids)
            width = len(vectors) // len(keys)
            yield [
                (key, vectors[place * width : (place + 1) * width])
                for place, key in enumerate(keys)
                if _is_valid(validity, place)
            ]

    def misplaced(self) -> int:
        """
        Return the number of keys that are not where the other half of the tables expects them.

        `vec0` finds the nearest keys by the chunks, and the vector of a key by the table of rowids.
        """
        held = wrong = 0
        for chunk, rowids, validity in self._db.stream(_CHUNK_KEYS):
            keys = [
                (key, place) for place, key in enumerate(array("q", rowids)) if _is_valid(validity, place)
            ]
            places: dict[int, int] = dict(
                self._db.rows(_PLACES, (json.dumps([key for key, _ in keys]), chunk))
            )
            wrong += sum(places.get(key) != place for key, place in keys)
            held += len(keys)
        return wrong or abs(held - self.count())

    def drop(self) -> None:
        drop_virtual_table(self._db, "vector_vec0")
        self._rename()

    def _rename(self) -> None:
        self._db.write("insert or replace into meta values ('vec0_content', hex(randomblob(8)))")

    def _quick(self) -> QuantizedVectors | None:
        """
        Return all vectors, quantized, once this content has been searched often; None before, or without
        content id.
        """
        content = self._db.meta("vec0_content")
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

        return rounded(self._db.stream(_CHUNKS), self.count())

    def _documents(self, scope: Scope) -> Collection[int] | None:
        seen, bindings = documents_in(scope)
        return [number for (number,) in self._db.rows(seen, bindings)] if seen else None

    def _scores(self, vector: Vector, keys: list[int]) -> list[tuple[int, float]]:
        rows = self._db.rows(_SCORES, {"vector": vector, "keys": json.dumps(keys)})
        # None: the vector was removed since
        return [(key, score) for key, score in rows if score is not None]

    def _create(self, dimensions: int) -> None:
        self._db.write(
            "create virtual table vector_vec0 using vec0 "
            f"(key integer primary key, embedding float[{dimensions}] distance_metric=cosine)"
        )


def _is_valid(validity: bytes, place: int) -> bool:
    return bool(validity[place >> 3] >> (place & 7) & 1)


def _is_asked_often(content: str) -> bool:
    if len(_ASKED) > MOST_CONTENTS:
        _ASKED.clear()
    _ASKED[content] += 1
    return _ASKED[content] > ASKED_OFTEN
