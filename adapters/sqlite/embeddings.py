from __future__ import annotations

import json
import math
from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from clawmem.adapters.sqlite.database import Database
from clawmem.adapters.sqlite.fragments import from_first, short_name, stored_text, whole_name
from clawmem.adapters.sqlite.keys import span, unpack
from clawmem.adapters.sqlite.short_vectors import BYTES, all_lengthened, all_shortened, lengthened
from clawmem.adapters.sqlite.spaces import BUILDING, SERVING, EmbeddingSpace, EmbeddingSpaces
from clawmem.adapters.sqlite.vector_scan import RECORDED, RowFilter, nearest, ranked
from clawmem.ports.errors import BadVector, ModelMismatch
from clawmem.ports.records import (
    EVERYTHING,
    Hit,
    PendingText,
    Scope,
    Vector,
    VectorEntry,
    embedding_text,
)

if TYPE_CHECKING:
    from clawmem.ports.status import EmbeddingBuild, EmbeddingCounts

MAX_ATTEMPTS = 3
# float32 and half-precision tables drift a little; a vector that is not normalized differs by far more
_UNIT_TOLERANCE = 1e-3

# SQL names of the serving embedding space, and of the one that is being built next to it.
_SERVING = {"vectors": "vectors", "failures": "embed_failures", "limits": "embed_state <> 'synced'"}
_BESIDE = {
    "vectors": "beside_vectors",
    "failures": "beside_failures",
    "limits": "id >= :after >> 20 and key > :after",
}
# The tables are joined in loop order, so that the first rows come early. The subqueries are correlated: a
# list of all texts that have a vector would be rebuilt for every batch.
_PENDING = f"""
select key, text_hash
  from documents cross join fragments on key between id << 20 and (id << 20) | 1048575
 where documents.inactive is null and {{limits}} and text_hash is not null
   and not exists (select 1 from {{vectors}} as made where made.text_hash = fragments.text_hash)
   and not exists (select 1 from {{failures}} as given_up
                    where given_up.text_hash = fragments.text_hash and attempts >= {MAX_ATTEMPTS})
 order by id, key
"""
# Few documents are out of service; a look-up of the document of every fragment takes ten times as long.
_USED = """
select text_hash from fragments
 where text_hash is not null and key >> 20 not in (select id from documents where inactive is not null)
"""
_COUNTS = f"""
with without as materialized (
    select distinct text_hash
      from documents cross join fragments on key between id << 20 and (id << 20) | 1048575
     where documents.inactive is null and {{limits}} and text_hash is not null
       and not exists (select 1 from {{vectors}} as made where made.text_hash = fragments.text_hash))
select (select count(distinct text_hash) from ({_USED})),
       (select count(*) from without),
       (select count(*) from without join {{failures}} using (text_hash) where attempts >= {MAX_ATTEMPTS}),
       (select count(*) from {{vectors}})
"""
_STATE = f"""
update documents set embed_state = case
    when not exists (select 1 from fragments where key between id << 20 and (id << 20) | 1048575
        and text_hash is not null
        and not exists (select 1 from vectors where vectors.text_hash = fragments.text_hash)) then 'synced'
    when exists (select 1 from fragments join embed_failures using (text_hash)
        where key between id << 20 and (id << 20) | 1048575 and attempts >= {MAX_ATTEMPTS}
          and not exists (select 1 from vectors where vectors.text_hash = fragments.text_hash)) then 'failed'
    else 'pending' end
"""
_STATE_OF = f"{_STATE} where id in (select key >> 20 from fragments where text_hash in (select unhex(value) from json_each(?)))"
_STATE_AFTER = f"""
{_STATE} where embed_state <> 'synced'
    or id in (select key >> 20 from fragments join embed_failures using (text_hash))
"""
_STORE = """
insert into space_vectors (space, text_hash, vector) values (?, ?, ?)
on conflict (space, text_hash) do update set vector = excluded.vector
"""
_FORGIVE = "delete from {failures} where text_hash in (select unhex(value) from json_each(?))"
_FAIL = """
insert into {failures} values (?, 1, ?)
on conflict (text_hash) do update set attempts = attempts + 1, error = excluded.error
"""
_ORPHANS = f"""
delete from space_vectors where space = (select id from spaces where state = ?) and text_hash not in ({_USED})
"""
_STANDS_FOR = """
select key, text_hash, collection, authored_at from fragments
  join documents on documents.id = key >> 20 and documents.inactive is null
 where text_hash in (select unhex(value) from json_each(?)) order by key
"""


class SqliteEmbeddings:
    """``EmbeddingStore`` in a table of blobs of 16 bits for each number, keyed by embedding space and text hash."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._spaces = EmbeddingSpaces(db)

    def fingerprint(self) -> str | None:
        space = self._spaces.get(SERVING)
        return space.fingerprint if space else None

    def building(self) -> EmbeddingBuild | None:
        space = self._spaces.get(BUILDING)
        if space is None:
            return None
        # imported here because only status reports need it, no query does
        from clawmem.ports.status import EmbeddingBuild

        return EmbeddingBuild(space.fingerprint, self._spaces.share(space))

    def pending(self, limit: int, *, beside: bool = False) -> list[PendingText]:
        if not beside:
            return self._waiting(limit, _SERVING)
        space = self._spaces.get(BUILDING)
        if space is None:
            return []
        # Documents that changed since may have keys before the position that the build has reached.
        return self._waiting(limit, _BESIDE, space.reached) or self._waiting(limit, _BESIDE)

    # -- vectors ------------------------------------------------------------------------------------

    def store(
        self, fingerprint: str, vectors: Mapping[str, Vector], *, beside: bool = False
    ) -> list[VectorEntry]:
        vectors = {short_name(name): vector for name, vector in vectors.items()}
        hashes = json.dumps(list(vectors))
        with self._db.atomic():
            space = self._building(fingerprint) if beside else self._serving(fingerprint, bool(vectors))
            kept = self._keep(space, vectors)
            self._db.write(_FORGIVE.format_map(_BESIDE if beside else _SERVING), (hashes,))
            if beside:
                self._spaces.reach(hashes)
                return []
            self._db.write(_STATE_OF, (hashes,))
            rows = self._db.write(_STANDS_FOR, (hashes,))
        return [VectorEntry(unpack(key), kept[name.hex()], *of_document) for key, name, *of_document in rows]

    def fail(self, text_hashes: Sequence[str], error: str, *, beside: bool = False) -> None:
        names = [*map(short_name, text_hashes)]
        with self._db.atomic():
            self._db.write_many(
                _FAIL.format_map(_BESIDE if beside else _SERVING),
                [(bytes.fromhex(name), error) for name in names],
            )
            if not beside:
                self._db.write(_STATE_OF, (json.dumps(names),))

    def of_document(self, document_id: int) -> list[VectorEntry]:
        sql = """
            select key, vector, collection, authored_at from fragments cross join vectors using (text_hash)
              join documents on documents.id = key >> 20 and inactive is null
             where key between ? and ? order by key
            """
        rows = self._db.rows(sql, span(document_id))
        return [VectorEntry(unpack(key), lengthened(stored), *rest) for key, stored, *rest in rows]

    def nearest(
        self,
        vector: Vector,
        limit: int,
        scope: Scope = EVERYTHING,
        *,
        documents: Collection[int] | None = None,
    ) -> list[Hit]:
        size = int(self._db.value(f"select length(vector) from {RECORDED} limit 1") or 0)
        among = RowFilter(scope, documents)
        return ranked(vector, size, limit, lambda: nearest(self._db, RECORDED, vector, limit, among))

    def counts(self, *, beside: bool = False) -> EmbeddingCounts:
        from clawmem.ports.status import EmbeddingCounts

        if beside and not self._spaces.get(BUILDING):
            return EmbeddingCounts()
        names = {**_BESIDE, "limits": "true"} if beside else _SERVING
        used, without, failed, held = self._db.rows(_COUNTS.format_map(names))[0]
        stored = used - without
        return EmbeddingCounts(stored, without - failed, failed, held - stored)

    def documents_without(self) -> int:
        # This is the condition of the partial index, so no document is read.
        sql = "select count(*) from documents where inactive is null and embed_state <> 'synced'"
        return int(self._db.value(sql))

    def clean(self) -> int:
        with self._db.atomic():
            for side in (_SERVING, _BESIDE):
                self._db.write(f"delete from {side['failures']} where text_hash not in ({_USED})")
            self._db.write(_ORPHANS, (BUILDING,))
            self._db.write(_ORPHANS, (SERVING,))
            gone = self._db.changes()
            self._spaces.forget_empty()
        return gone

    # -- spaces -------------------------------------------------------------------------------------

    def begin(self, fingerprint: str) -> None:
        with self._db.atomic():
            self.give_up()
            self._spaces.add(fingerprint, BUILDING)

    def give_up(self) -> None:
        with self._db.atomic():
            self._spaces.retire(BUILDING)
            self._db.write("delete from beside_failures")

    def take_over(self) -> bool:
        with self._db.atomic():
            if not self._spaces.get(BUILDING) or self._waiting(1, _BESIDE):
                return False
            self._spaces.promote()
            self._db.write("delete from embed_failures")
            self._db.write("insert into embed_failures select * from beside_failures")
            self._db.write("delete from beside_failures")
            self._db.write(_STATE_AFTER)
            self._spaces.forget_empty()
        return True

    def discard(self, limit: int) -> int:
        with self._db.atomic():
            return self._spaces.discard(limit)

    def clear(self) -> None:
        with self._db.atomic():
            self._db.write("delete from space_vectors")
            self._db.write("delete from embed_failures")
            self._db.write("delete from beside_failures")
            self._spaces.retire(SERVING)
            self._db.write("delete from spaces")
            self._db.write("update documents set embed_state = 'pending'")

    # -- inside -------------------------------------------------------------------------------------

    def _waiting(self, limit: int, side: Mapping[str, str], after: int = 0) -> list[PendingText]:
        """Return the first *limit* texts without a vector, each with the first fragment that has this text."""
        first: dict[bytes, int] = {}
        bindings = {"after": after} if side is _BESIDE else {}
        rows = self._db.stream(_PENDING.format_map(side), bindings)
        while len(first) < limit and (row := next(rows, None)):
            first.setdefault(row[1], row[0])
        del rows  # an unfinished query would keep its read snapshot open
        texts = _fragment_texts(self._db, first.values())
        return [
            PendingText(whole_name(stored, texts[key]), texts[key])
            for stored, key in first.items()
            if key in texts
        ]

    def _serving(self, fingerprint: str, has_vectors: bool) -> EmbeddingSpace | None:
        """Return the embedding space of *fingerprint*; ``None`` if there is no space and no vector to store."""
        space = self._spaces.get(SERVING)
        if space is not None and space.fingerprint != fingerprint:
            raise ModelMismatch(space.fingerprint, fingerprint)
        return space or (self._spaces.add(fingerprint, SERVING) if has_vectors else None)

    def _building(self, fingerprint: str) -> EmbeddingSpace:
        space = self._spaces.get(BUILDING)
        if space is None or space.fingerprint != fingerprint:
            raise ModelMismatch(space.fingerprint if space else "no other model", fingerprint)
        return space

    def _keep(self, space: EmbeddingSpace | None, vectors: Mapping[str, Vector]) -> dict[str, Vector]:
        """Store the vectors and return them as they are read from now on."""
        if space is None:
            return {}
        first = next(iter(vectors.values()), b"")
        known = self._db.value("select length(vector) from space_vectors where space = ? limit 1", space[:1])
        check_vectors(vectors.values(), 4 // BYTES * known if known else len(first))
        stored = all_shortened(vectors.values())
        self._db.write_many(
            _STORE,
            [(space.number, bytes.fromhex(name), short) for name, short in zip(vectors, stored, strict=True)],
        )
        return dict(zip(vectors, all_lengthened(stored), strict=True))


def check_vector(vector: Vector, length: int) -> None:
    """
    Raise an error if an index cannot store *vector*.

    Raises:
        BadVector: the vector does not have *length* bytes, is not finite or does not have unit length.
    """
    if len(vector) != length or not vector or len(vector) % 4:
        raise BadVector(f"it has {len(vector) // 4} dimensions, the vault's have {length // 4}")
    norm = math.hypot(*array("f", vector))
    if not math.isfinite(norm) or abs(norm - 1) > _UNIT_TOLERANCE:
        raise BadVector(f"its length is {norm:.3g} instead of 1")


def check_vectors(vectors: Collection[Vector], length: int) -> None:
    """Raise the error of `check_vector` for the first of *vectors* that an index cannot store."""
    import numpy as np

    if length and length % 4 == 0 and {*map(len, vectors)} == {length}:
        numbers = np.frombuffer(b"".join(vectors), "<f4").reshape(len(vectors), -1)
        norms = np.sqrt(np.einsum("ij,ij->i", numbers, numbers))  # shape (n,)
        if (abs(norms - 1) < _UNIT_TOLERANCE / 2).all():
            return
    for vector in vectors:
        check_vector(vector, length)


def invalid_vectors(db: Database) -> list[int]:
    """Return the ids of stored vectors that `check_vector` rejects."""
    lengths = "select space, length(vector) from space_vectors group by 1, 2 order by count(*)"
    # for each embedding space, the most frequent length comes last and wins
    usual: dict[int, int] = dict(db.rows(lengths))
    spoilt = []
    for number, space, vector in db.stream("select id, space, vector from space_vectors"):
        try:
            if len(vector) != usual[space]:
                raise BadVector("its length differs from that of the others")
            check_vector(lengthened(vector), 4 // BYTES * usual[space])
        except BadVector:
            spoilt.append(number)
    return spoilt


def _fragment_texts(db: Database, keys: Iterable[int]) -> dict[int, str]:
    """Return the texts of fragments. Each body is read once: SQLite's substr scans it from its start each time."""
    sql = f"""
    select fragments.key, start, "end", {from_first("context")}, own_text
      from json_each(?) as asked
      join fragments on fragments.key = asked.value
    """
    rows = db.rows(sql, (json.dumps([*keys]),))
    texts: dict[int, str] = {}
    for document_id, several in groupby(sorted(rows), key=lambda row: unpack(row[0]).document_id):
        body = (
            db.value("select body from content join documents using (hash) where id = ?", (document_id,))
            or ""
        )
        for key, start, end, context, own in several:
            texts[key] = embedding_text(stored_text(context), body[start:end] if own is None else own)
    return texts
