"""Embeddings in the vault: one ``vec0`` table of sqlite-vec for each embedding space holds the only copy of its vectors."""

import json
import math
from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from itertools import groupby
from typing import NamedTuple
from zlib import crc32

from clawmem.adapters.sqlite.abandoning import blame_index, broken_tables, drop_virtual_table
from clawmem.adapters.sqlite.database import Database, Row
from clawmem.adapters.sqlite.store import Store, condition, short_name, span, unpack, whole_name
from clawmem.ports.errors import BadVector, ModelMismatch, VaultDamaged, VaultError
from clawmem.ports.indexes import EmbeddingBuild, EmbeddingCounts
from clawmem.ports.records import EVERYTHING, Hit, Scope, Vector, VectorEntry, embedding_text

MAX_ATTEMPTS = 3
MAX_NEIGHBOURS = 4096  # the most that vec0 returns for one query
# A table grows by chunks. The default of 1024 vectors would take a quarter of a megabyte in a vault with one note.
CHUNK_SIZE = 256
LARGEST = 127  # of an int8
MANY = 256  # dimensions from which no number of a unit vector exceeds 1/2 by much
# float32 and half-precision tables drift a little; a vector that is not normalized differs by far more
_UNIT_TOLERANCE = 1e-3

SERVING, BUILDING, RETIRED = "serving", "building", "retired"

# SQL names of the serving embedding space, and of the one that is being built next to it.
_SERVING = {"state": SERVING, "texts": "embedded_texts", "limits": "embed_state <> 'synced'"}
_BUILDING = {"state": BUILDING, "texts": "building_texts", "limits": "id >= :after >> 20 and key > :after"}
# The tables are joined in loop order, so that the first rows come early. The subqueries are correlated: a
# list of all texts that have a vector would be rebuilt for every batch.
_PENDING = f"""
select key, text_hash, start, "end", context, own_text
  from documents cross join fragments on key between id << 20 and (id << 20) | 1048575
 where documents.inactive is null and {{limits}} and text_hash is not null
   and not exists (select 1 from {{texts}} where hash = text_hash)
   and not exists (select 1 from embed_failures as failed
                    where state = '{{state}}' and failed.text_hash = fragments.text_hash and attempts >= {MAX_ATTEMPTS})
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
       and not exists (select 1 from {{texts}} where hash = text_hash))
select (select count(distinct text_hash) from ({_USED})),
       (select count(*) from without),
       (select count(*) from without join embed_failures using (text_hash)
         where state = '{{state}}' and attempts >= {MAX_ATTEMPTS}),
       (select count(*) from {{texts}})
"""
_STATE = f"""
update documents set embed_state = case
    when not exists (select 1 from fragments where key between id << 20 and (id << 20) | 1048575
        and text_hash is not null
        and not exists (select 1 from embedded_texts where hash = text_hash)) then 'synced'
    when exists (select 1 from fragments join embed_failures using (text_hash)
        where key between id << 20 and (id << 20) | 1048575 and state = 'serving' and attempts >= {MAX_ATTEMPTS}
          and not exists (select 1 from embedded_texts where hash = text_hash)) then 'failed'
    else 'pending' end
"""
_STATE_OF = f"{_STATE} where id in (select key >> 20 from fragments where text_hash in (select unhex(value) from json_each(?)))"
_STATE_AFTER = f"""
{_STATE} where embed_state <> 'synced'
    or id in (select key >> 20 from fragments join embed_failures using (text_hash) where state = 'serving')
"""
_FORGIVE = (
    "delete from embed_failures where state = ? and text_hash in (select unhex(value) from json_each(?))"
)
_FAIL = """
insert into embed_failures values (?, unhex(?), 1)
on conflict (state, text_hash) do update set attempts = attempts + 1
"""
# Texts are embedded in the order of their first fragments, so the last of these is the progress of the build.
_REACHED = """
update spaces set reached = max(reached, (select coalesce(max(first), 0) from (
    select min(key) as first from fragments where text_hash in (select unhex(value) from json_each(?)) group by text_hash)))
 where state = 'building'
"""
_OF_DOCUMENT = """
select key, embedding, collection, authored_at
  from fragments cross join texts on texts.hash = text_hash and space = :space
  cross join {vectors} as vectors on vectors.rowid = texts.id
  join documents on documents.id = key >> 20 and inactive is null
 where key between :first and :last order by key
"""
_OUTDATE_INDEXES = "update indexes set outdated = 1 where role = 'vectors'"
_INSERT = "insert into {} (rowid, embedding) values (?, vec_int8(?))"
_NEAREST = """
select key, distance
  from (select rowid as text, distance from {vectors} where embedding match vec_int8(:question) and k = :k {texts})
  join texts on texts.id = text
  join fragments on text_hash = hash
 where key >> 20 in (select id from documents where {documents})
"""
# vec0 applies no other condition before it selects the nearest.
_TEXTS_OF = """
and rowid in (select texts.id from fragments cross join texts on hash = text_hash and space = :space
               where text_hash is not null and key >> 20 in (select id from documents where {documents}))
"""


class EmbeddingSpace(NamedTuple):
    """The vectors of one model. ``dimensions`` is 0, and there is no table, before the first vector."""

    id: int
    fingerprint: str
    reached: int
    dimensions: int

    @property
    def vectors(self) -> str:
        """Name of the ``vec0`` table; the row of a vector has the id of its text."""
        return f"vectors_{self.id}"


class SqliteEmbeddings(Store):
    """
    ``EmbeddingStore`` in the tables ``spaces`` and ``texts``, and one ``vec0`` table for each space.

    A text has an id in each space that has its vector. At most one space serves and at most one is being built; ids
    of spaces are never reused. A vector is stored as int8 numbers, so that a score differs from the cosine by less
    than .02.
    """

    in_process = True
    method = "sqlite-vec"

    def fingerprint(self) -> str | None:
        space = self._space(SERVING)
        return space.fingerprint if space else None

    def building(self) -> EmbeddingBuild | None:
        space = self._space(BUILDING)
        if space is None:
            return None
        last = self._db.value("select max(id) from documents") or 0
        share = min(1.0, unpack(space.reached).document_id / last) if last else 0.0
        return EmbeddingBuild(space.fingerprint, share)

    # -- search -------------------------------------------------------------------------------------

    def search(self, vector: Vector, limit: int, scope: Scope = EVERYTHING) -> list[Hit]:
        space = self._space(SERVING)
        if space is None or not space.dimensions or limit < 1 or not any(vector):
            return []
        if len(vector) != 4 * space.dimensions:
            raise BadVector(f"the question has {len(vector) // 4} dimensions, not {space.dimensions}")
        neighbours = min(limit, MAX_NEIGHBOURS)
        documents, bindings = condition(scope, "inactive is null")
        is_limited = documents != "inactive is null"
        texts = _TEXTS_OF.format(documents=documents)
        sql = _NEAREST.format(vectors=space.vectors, documents=documents, texts=texts if is_limited else "")
        question = quantized(unit_vector(array("f", vector)))
        values = {**bindings, "question": question, "k": neighbours, "space": space.id}
        with self._blaming(space):
            rows = self._db.rows(sql, values)
            if not is_limited and len(rows) < neighbours < self._count(space):
                # Among the nearest are texts that no served document has any more; the next `clean` deletes them.
                sql = _NEAREST.format(vectors=space.vectors, documents=documents, texts=texts)
                rows = self._db.rows(sql, values)
        # the cosine of two unit vectors, of which the numbers have this Euclidean distance
        steps = steps_of(space.dimensions)
        hits = [Hit(unpack(key), max(-1.0, 1.0 - (distance / steps) ** 2 / 2)) for key, distance in rows]
        return sorted(hits, key=lambda hit: (-hit.score, hit.key))[:limit]

    def count(self) -> int:
        sql = """
            select count(*) from fragments join embedded_texts on embedded_texts.hash = text_hash
              join documents on documents.id = key >> 20 and inactive is null
            """
        return int(self._db.value(sql))

    def of_document(self, document_id: int) -> list[VectorEntry]:
        space = self._space(SERVING)
        if space is None or not space.dimensions:
            return []
        first, last = span(document_id)
        bindings = {"space": space.id, "first": first, "last": last}
        with self._blaming(space):
            rows = self._db.rows(_OF_DOCUMENT.format(vectors=space.vectors), bindings)
        return [VectorEntry(unpack(key), unit_vector(array("b", codes)), *rest) for key, codes, *rest in rows]

    # -- texts --------------------------------------------------------------------------------------

    def pending(self, limit: int, *, building: bool = False) -> list[tuple[str, str]]:
        if not building:
            return self._waiting(limit, _SERVING)
        space = self._space(BUILDING)
        if space is None:
            return []
        # Documents that changed since may have keys before the position that the build has reached.
        return self._waiting(limit, _BUILDING, space.reached) or self._waiting(limit, _BUILDING)

    def store(self, fingerprint: str, vectors: Mapping[str, Vector], *, building: bool = False) -> None:
        vectors = {short_name(name): vector for name, vector in vectors.items()}
        hashes = json.dumps(list(vectors))
        with self._db.atomic():
            space = self._space(BUILDING if building else SERVING)
            if building and space is None:
                raise ModelMismatch("no other model", fingerprint)
            if space is not None and space.fingerprint != fingerprint:
                raise ModelMismatch(space.fingerprint, fingerprint)
            if vectors:
                self._put(space or self._add(fingerprint, SERVING), vectors)
            self._db.write(_FORGIVE, (BUILDING if building else SERVING, hashes))
            self._db.write(_REACHED if building else _STATE_OF, (hashes,))

    def fail(self, text_hashes: Sequence[str], *, building: bool = False) -> None:
        hashes = [*map(short_name, text_hashes)]
        state = BUILDING if building else SERVING
        with self._db.atomic():
            self._db.write_many(_FAIL, [(state, name) for name in hashes])
            if not building:
                self._db.write(_STATE_OF, (json.dumps(hashes),))

    def counts(self, *, building: bool = False) -> EmbeddingCounts:
        if building and not self._space(BUILDING):
            return EmbeddingCounts()
        names = {**_BUILDING, "limits": "true"} if building else _SERVING
        used, without, failed, every = self._db.rows(_COUNTS.format_map(names))[0]
        stored = used - without
        return EmbeddingCounts(stored, without - failed, failed, every - stored)

    def documents_without(self) -> int:
        # A partial index lists these documents; their rows are read as well, because a damaged index lists others.
        waiting = "inactive is null and embed_state <> 'synced'"
        listed = f"select id from documents where {waiting}"
        sql = f"select count(*) from documents not indexed where id in ({listed}) and {waiting}"
        return int(self._db.value(sql))

    def clean(self) -> int:
        with self._db.atomic():
            self._db.write(f"delete from embed_failures where text_hash not in ({_USED})")
            unused = f"select id from texts where space = ? and hash not in ({_USED})"
            for space in self._spaces(BUILDING):
                self._delete(space, self._db.write(unused, (space.id,)))
            serving = self._space(SERVING)
            if serving is None:
                return 0
            rows = self._db.write(unused, (serving.id,))
            self._delete(serving, rows)
            if self._drop_if_empty(serving):
                self._db.write(_OUTDATE_INDEXES)
        return len(rows)

    # -- spaces -------------------------------------------------------------------------------------

    def begin(self, fingerprint: str) -> None:
        with self._db.atomic():
            self.give_up()
            self._add(fingerprint, BUILDING)

    def give_up(self) -> None:
        with self._db.atomic():
            self._db.write("update spaces set state = 'retired' where state = 'building'")
            self._db.write("delete from embed_failures where state = 'building'")

    def take_over(self) -> bool:
        with self._db.atomic():
            if not self._space(BUILDING) or self._waiting(1, _BUILDING):
                return False
            self._db.write("update spaces set state = 'retired' where state = 'serving'")
            self._db.write("delete from embed_failures where state = 'serving'")
            for table in ("spaces", "embed_failures"):
                self._db.write(f"update {table} set state = 'serving' where state = 'building'")
            self._db.write(_STATE_AFTER)
            if serving := self._space(SERVING):
                self._drop_if_empty(serving)
            self._db.write(_OUTDATE_INDEXES)
        return True

    def discard(self, limit: int) -> int:
        with self._db.atomic():
            left = limit
            for space in self._spaces(RETIRED):
                self._drop_vectors(space)
                sql = "delete from texts where id in (select id from texts where space = ? limit ?)"
                left -= self._db.change(sql, (space.id, max(left, 0)))
                if not self._db.value("select exists (select 1 from texts where space = ?)", (space.id,)):
                    self._db.write("delete from spaces where id = ?", (space.id,))
        return limit - left

    def clear(self) -> None:
        with self._db.atomic():
            for space in self._spaces(SERVING, BUILDING, RETIRED):
                self._drop(space)
            self._db.write("delete from embed_failures")
            self._db.write(_OUTDATE_INDEXES)
            self._db.write("update documents set embed_state = 'pending'")

    # -- damage -------------------------------------------------------------------------------------

    def faults(self) -> list[str]:
        return [fault for space in self._spaces(SERVING, BUILDING) for fault in self._faults(space)]

    def rebuild(self) -> int:
        lost = 0
        with self._db.atomic():
            for space in self._spaces(SERVING, BUILDING):
                if not space.dimensions:
                    continue
                sound, missing, _ = self._examined(space)
                self._drop_vectors(space)
                create_vectors(self._db, space.vectors, space.dimensions)
                self._db.write_many(_INSERT.format(space.vectors), sound.items())
                self._db.write_many("delete from texts where id = ?", [(number,) for number in missing])
                lost += len(missing)
            if lost:
                self._db.write(_STATE)
        return lost

    # -- inside -------------------------------------------------------------------------------------

    def _spaces(self, *states: str) -> list[EmbeddingSpace]:
        # Without a condition that an index serves: a damaged one would hide the space.
        rows = self._db.rows("select state, id, fingerprint, reached, dimensions from spaces")
        return [EmbeddingSpace(*space) for state, *space in rows if state in states]

    def _space(self, state: str) -> EmbeddingSpace | None:
        return next(iter(self._spaces(state)), None)

    def _add(self, fingerprint: str, state: str) -> EmbeddingSpace:
        sql = "insert into spaces (fingerprint, state) values (?, ?) returning id, fingerprint, reached, dimensions"
        return EmbeddingSpace(*self._db.write(sql, (fingerprint, state))[0])

    def _count(self, space: EmbeddingSpace) -> int:
        return int(self._db.value("select count(*) from texts where space = ?", (space.id,)))

    def _put(self, space: EmbeddingSpace, vectors: Mapping[str, Vector]) -> None:
        """Store the vectors by the hexadecimal hashes of their texts, replacing former ones."""
        length = 4 * space.dimensions or len(next(iter(vectors.values())))
        for vector in vectors.values():
            if len(vector) != length or not vector or len(vector) % 4:
                raise BadVector(f"it has {len(vector) // 4} dimensions, the vault's have {length // 4}")
            norm = math.hypot(*array("f", vector))
            if not math.isfinite(norm) or abs(norm - 1) > _UNIT_TOLERANCE:
                raise BadVector(f"its length is {norm:.3g} instead of 1")
        if not space.dimensions:
            create_vectors(self._db, space.vectors, length // 4)
            self._db.write("update spaces set dimensions = ? where id = ?", (length // 4, space.id))
        sql = """
            select id, lower(hex(hash)) from texts
             where space = ? and hash in (select unhex(value) from json_each(?))
            """
        hashes = (space.id, json.dumps(list(vectors)))
        self._delete(space, [(number,) for number, _ in self._db.write(sql, hashes)])
        codes = {name: quantized(vector) for name, vector in vectors.items()}
        texts = [(space.id, name, crc32(numbers)) for name, numbers in codes.items()]
        self._db.write_many("insert into texts (space, hash, checksum) values (?, unhex(?), ?)", texts)
        rows = [(number, codes[name]) for number, name in self._db.write(sql, hashes)]
        self._db.write_many(_INSERT.format(space.vectors), rows)

    def _delete(self, space: EmbeddingSpace, rows: Sequence[tuple[int]]) -> None:
        if rows:
            with self._blaming(space):
                self._db.write_many(f"delete from {space.vectors} where rowid = ?", rows)
            self._db.write_many("delete from texts where id = ?", rows)

    def _drop(self, space: EmbeddingSpace) -> None:
        self._drop_vectors(space)
        self._db.write("delete from texts where space = ?", (space.id,))
        self._db.write("delete from spaces where id = ?", (space.id,))

    def _drop_if_empty(self, space: EmbeddingSpace) -> bool:
        """Drop a space without vectors, so that the vault is not bound to its model; return whether it was."""
        is_empty = self._count(space) == 0
        if is_empty:
            self._drop(space)
        return is_empty

    def _drop_vectors(self, space: EmbeddingSpace) -> None:
        if self._db.value("select exists (select 1 from sqlite_schema where name = ?)", (space.vectors,)):
            drop_virtual_table(self._db, space.vectors)

    def _waiting(self, limit: int, side: Mapping[str, str], after: int = 0) -> list[tuple[str, str]]:
        """Return the first *limit* texts without a vector, each with the first fragment that has this text."""
        first: dict[bytes, Row] = {}
        bindings = {"after": after} if side is _BUILDING else {}
        rows = self._db.stream(_PENDING.format_map(side), bindings)
        while len(first) < limit and (row := next(rows, None)):
            first.setdefault(row[1], row)
        del rows  # an unfinished query would keep its read snapshot open
        texts: list[tuple[str, str]] = []
        sql = "select body from content join documents using (hash) where id = ?"
        # SQLite's substr scans a body from its start for each fragment, so each body is read once.
        for document_id, several in groupby(first.values(), key=lambda row: unpack(row[0]).document_id):
            body = self._db.value(sql, (document_id,))
            if body is None:  # the document was deleted since
                continue
            for _, stored, start, end, context, own_text in several:
                text = embedding_text(context, body[start:end] if own_text is None else own_text)
                texts.append((whole_name(stored, text), text))
        return texts

    def _blaming(self, space: EmbeddingSpace) -> AbstractContextManager[None]:
        return blame_index(self._db, lambda: self._faults(space))

    def _faults(self, space: EmbeddingSpace) -> list[str]:
        if broken := broken_tables(self._db, [space.vectors]):
            return [f"{name} is broken" for name in broken]
        if not space.dimensions:
            return []
        try:
            _, missing, surplus = self._examined(space)
        except VaultDamaged:
            return []  # a table of the records is broken, which `Vault.check` reports
        faults = {
            "texts have no vector, or a damaged one": len(missing),
            "vectors belong to no text": surplus,
        }
        return [f"{count} {fault}" for fault, count in faults.items() if count]

    def _examined(self, space: EmbeddingSpace) -> tuple[dict[int, bytes], Collection[int], int]:
        """
        Compare the vectors of *space* with the checksums of its texts.

        Return the sound vectors by the ids of their texts, the texts without one, and the number of vectors without
        a text.
        """
        checksums: dict[int, int] = dict(
            self._db.rows("select id, checksum from texts where space = ?", (space.id,))
        )
        stored: dict[int, bytes] = {}
        if not broken_tables(self._db, [space.vectors]):
            with suppress(VaultError):
                stored = dict(self._db.rows(f"select rowid, embedding from {space.vectors}"))
        sound = {
            n: stored[n] for n, checksum in checksums.items() if n in stored and crc32(stored[n]) == checksum
        }
        return sound, checksums.keys() - sound.keys(), len(stored.keys() - checksums.keys())


def create_vectors(db: Database, name: str, dimensions: int) -> None:
    """Create the empty ``vec0`` table *name*."""
    db.write(
        f"create virtual table {name} using vec0 (embedding int8[{dimensions}], chunk_size={CHUNK_SIZE})"
    )


def steps_of(dimensions: int) -> int:
    """
    Return the number of steps of an int8 number between 0 and 1.

    Numbers of long vectors are small: they are stored in half as large steps, and those beyond 1/2 are cut.
    """
    return 2 * LARGEST if dimensions >= MANY else LARGEST


def quantized(vector: Vector) -> bytes:
    """Return a unit vector as int8 numbers, in steps of `steps_of`."""
    numbers = array("f", vector)
    steps = steps_of(len(numbers))
    codes = (max(-LARGEST, min(LARGEST, round(steps * number))) for number in numbers)
    return array("b", codes).tobytes()


def unit_vector(numbers: Iterable[float]) -> Vector:
    """Return the vector of *numbers*, scaled to length 1."""
    values = list(numbers)
    length = math.hypot(*values) or 1.0
    return array("f", [value / length for value in values]).tobytes()
