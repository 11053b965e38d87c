from __future__ import annotations

import json
import threading
from array import array
from collections import Counter
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from clawmem.adapters.sqlite.abandoning import dropped
from clawmem.adapters.sqlite.database import Database
from clawmem.adapters.sqlite.kept import Kept
from clawmem.adapters.sqlite.scope import documents_in
from clawmem.ports.records import Scope, Vector

if TYPE_CHECKING:
    from clawmem.adapters.sqlite.quick_vectors import QuickVectors

_MOST = 4096  # vec0 answers no more than this
_NEAREST = "select key, 1 - distance from vector_vec0 where embedding match :vector and k = :k"
# A list of keys is the one filter that vec0 applies before it cuts, whatever the rest of the query says.
_AMONG = " and key in (select value from json_each(:keys))"
_KEYS = "select rowid from vector_vec0_rowids where rowid >> 20 in ({seen})"
# From the records, where a row is read twenty times as fast; from vec0 what they do not hold.
_SCORES = """
select value, coalesce(
    (select 1 - vec_distance_cosine(vector, :vector) from fragments join vectors using (text_hash) where key = value),
    (select 1 - vec_distance_cosine(embedding, :vector) from vector_vec0 where key = value)
) from json_each(:keys)
"""

# As vec0 keeps them: so many keys and vectors in one row, and a bit for each of them that is there.
_CHUNKS = """
select rowids, validity, vectors from vector_vec0_chunks as chunk
  join vector_vec0_vector_chunks00 as part on part.rowid = chunk.chunk_id
"""

# What a process that is asked again and again keeps. To read them all takes as long as four questions.
ASKED_OFTEN = 5
MOST_CONTENTS = 100  # that are counted; then counting begins anew
MOST_KEPT = 40_000_000  # bytes, in the whole process

_ASKED: Counter[str] = Counter()
_READING = threading.Lock()  # one thread reads them; the others do as before meanwhile
_QUICK: Kept[QuickVectors | None] = Kept(MOST_KEPT, lambda quick: quick.size_bytes if quick else 0)


class Vec0Table:
    """
    Vectors in sqlite-vec's ``vec0``: exact, in C. Made with the first vector, whose length it takes.

    A process that is asked often keeps them rounded, and has ``vec0`` compare those alone that may be among the
    nearest: the answer is the same, in a quarter of the time. They stay as long as the content, which has a name that
    changes with every change.
    """

    name = "vec0"
    table = "vector_vec0"

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
        self._rename()

    def delete(self, first: int, last: int) -> None:
        keys = self._db.rows(
            "select rowid from vector_vec0_rowids where rowid between ? and ?", (first, last)
        )
        self._db.write_many("delete from vector_vec0 where key = ?", keys)
        self._rename()

    def nearest(self, vector: Vector, limit: int, scope: Scope) -> list[tuple[int, float]]:
        if quick := self._quick():
            return self._scores(vector, quick.worth_a_look(vector, limit, self._documents(scope)))
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
        """All keys with their vectors, as many at once as lie together; outside of what `vec0` checks by itself."""
        for rowids, validity, vectors in self._db.stream(_CHUNKS):
            keys = array("q", rowids)
            width = len(vectors) // len(keys)
            yield [
                (key, vectors[place * width : (place + 1) * width])
                for place, key in enumerate(keys)
                if validity[place >> 3] >> (place & 7) & 1
            ]

    def drop(self) -> None:
        dropped(self._db, "vector_vec0")
        self._rename()

    def _rename(self) -> None:
        self._db.write("insert or replace into meta values ('vec0_content', hex(randomblob(8)))")

    def _quick(self) -> QuickVectors | None:
        """All vectors, rounded, once the same content was asked often; None before, and when it has no name."""
        content = self._db.value("select value from meta where name = 'vec0_content'")
        if content is None:
            return None
        if not _is_asked_often(content) or not _READING.acquire(blocking=False):
            return None
        try:
            return _QUICK.get(content, self._rounded)
        finally:
            _READING.release()

    def _rounded(self) -> QuickVectors | None:
        from clawmem.adapters.sqlite.quick_vectors import rounded  # and with it numpy

        return rounded(self._db.stream(_CHUNKS), self.count())

    def _documents(self, scope: Scope) -> Collection[int] | None:
        seen, bindings = documents_in(scope)
        return [number for (number,) in self._db.rows(seen, bindings)] if seen else None

    def _scores(self, vector: Vector, keys: list[int]) -> list[tuple[int, float]]:
        rows = self._db.rows(_SCORES, {"vector": vector, "keys": json.dumps(keys)})
        return [(key, score) for key, score in rows if score is not None]  # else it was removed meanwhile

    def _create(self, dimensions: int) -> None:
        self._db.write(
            "create virtual table vector_vec0 using vec0 "
            f"(key integer primary key, embedding float[{dimensions}] distance_metric=cosine)"
        )


def _is_asked_often(content: str) -> bool:
    if len(_ASKED) > MOST_CONTENTS:
        _ASKED.clear()
    _ASKED[content] += 1
    return _ASKED[content] > ASKED_OFTEN
