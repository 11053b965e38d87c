from __future__ import annotations

import json
import math
from array import array
from collections.abc import Collection, Mapping, Sequence

from clawmem.adapters.sqlite.database import Database
from clawmem.adapters.sqlite.keys import span, unpack
from clawmem.adapters.sqlite.scan_table import CanonicalScan, ranked
from clawmem.ports.errors import BadVector, ModelMismatch
from clawmem.ports.records import (
    EVERYTHING,
    EmbeddingCounts,
    Hit,
    PendingText,
    Scope,
    Vector,
    VectorEntry,
    embedding_text,
)

MAX_ATTEMPTS = 3
_UNIT_TOLERANCE = 1e-3  # float32 and half-precision tables drift; a vector that is not unit at all does not

# Texts without a vector of served documents that are not complete; one given-up text holds no other back.
_PENDING = f"""
select min(key), text_hash
  from documents join fragments on key between id << 20 and (id << 20) | 1048575
 where documents.inactive is null and embed_state <> 'synced' and text_hash is not null
   and text_hash not in (select text_hash from vectors)
   and text_hash not in (select text_hash from embed_failures where attempts >= {MAX_ATTEMPTS})
 group by text_hash order by 1 limit ?
"""
_USED = """
select text_hash from fragments join documents on documents.id = key >> 20 and inactive is null
 where text_hash is not null
"""
_COUNTS = f"""
with used as (select distinct text_hash from ({_USED}))
select (select count(*) from used join vectors using (text_hash)),
       (select count(*) from used where text_hash not in (select text_hash from vectors)),
       (select count(*) from used join embed_failures using (text_hash)
         where attempts >= {MAX_ATTEMPTS} and text_hash not in (select text_hash from vectors)),
       (select count(*) from vectors where text_hash not in (select text_hash from used))
"""
_STATE = f"""
update documents set embed_state = case
    when not exists (select 1 from fragments where key between id << 20 and (id << 20) | 1048575
        and text_hash is not null and text_hash not in (select text_hash from vectors)) then 'synced'
    when exists (select 1 from fragments join embed_failures using (text_hash)
        where key between id << 20 and (id << 20) | 1048575 and attempts >= {MAX_ATTEMPTS}
          and text_hash not in (select text_hash from vectors)) then 'failed'
    else 'pending' end
 where id in (select key >> 20 from fragments where text_hash in (select value from json_each(?)))
"""


_FINGERPRINT = "select fingerprint from models where id = (select model from vectors limit 1)"
_STORE = """
insert into vectors (text_hash, model, vector) values (?, ?, ?)
on conflict (text_hash) do update set model = excluded.model, vector = excluded.vector
"""
_FORGIVE = "delete from embed_failures where text_hash in (select value from json_each(?))"
_STANDS_FOR = """
select key, text_hash, collection, authored_at from fragments
  join documents on documents.id = key >> 20 and documents.inactive is null
 where text_hash in (select value from json_each(?)) order by key
"""


class SqliteEmbeddings:
    """``EmbeddingStore`` in a table of blobs by text hash."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def fingerprint(self) -> str | None:
        name: str | None = self._db.value(_FINGERPRINT)
        return name

    def pending(self, limit: int) -> list[PendingText]:
        rows = self._db.rows(_PENDING, (max(limit, 0),))
        texts = _Texts(self._db)
        return [PendingText(text_hash, texts.of(key)) for key, text_hash in rows]

    def store(self, fingerprint: str, vectors: Mapping[str, Vector]) -> list[VectorEntry]:
        hashes = json.dumps(list(vectors))
        with self._db.atomic():
            model = self._claim(fingerprint, vectors)
            self._db.write_many(_STORE, [(name, model, vector) for name, vector in vectors.items()])
            self._db.write(_FORGIVE, (hashes,))
            self._db.write(_STATE, (hashes,))
            rows = self._db.write(_STANDS_FOR, (hashes,))
        return [VectorEntry(unpack(key), vectors[name], *of_document) for key, name, *of_document in rows]

    def fail(self, text_hashes: Sequence[str], error: str) -> None:
        with self._db.atomic():
            self._db.write_many(
                "insert into embed_failures values (?, 1, ?) "
                "on conflict (text_hash) do update set attempts = attempts + 1, error = excluded.error",
                [(text_hash, error) for text_hash in text_hashes],
            )
            self._db.write(_STATE, (json.dumps(list(text_hashes)),))

    def of_document(self, document_id: int) -> list[VectorEntry]:
        sql = """
            select key, vector, collection, authored_at from fragments join vectors using (text_hash)
              join documents on documents.id = key >> 20 and inactive is null
             where key between ? and ? order by key
            """
        return [VectorEntry(unpack(key), *rest) for key, *rest in self._db.rows(sql, span(document_id))]

    def nearest(
        self,
        vector: Vector,
        limit: int,
        scope: Scope = EVERYTHING,
        *,
        documents: Collection[int] | None = None,
    ) -> list[Hit]:
        scan = CanonicalScan(self._db)
        return ranked(vector, scan.length(), limit, lambda: scan.nearest(vector, limit, scope, documents))

    def counts(self) -> EmbeddingCounts:
        stored, without, failed, orphaned = self._db.rows(_COUNTS)[0]
        return EmbeddingCounts(stored, without - failed, failed, orphaned)

    def clean(self) -> int:
        with self._db.atomic():
            self._db.write(f"delete from embed_failures where text_hash not in ({_USED})")
            self._db.write(f"delete from vectors where text_hash not in ({_USED})")
            return self._db.changes()

    def clear(self) -> None:
        with self._db.atomic():
            self._db.write("delete from vectors")
            self._db.write("delete from embed_failures")
            self._db.write("delete from models")
            self._db.write("update documents set embed_state = 'pending'")

    def _claim(self, fingerprint: str, vectors: Mapping[str, Vector]) -> int:
        """Make sure that these vectors belong with those that are there; the number of their model."""
        stored = self.fingerprint()
        if stored is not None and stored != fingerprint:
            raise ModelMismatch(stored, fingerprint)
        first = next(iter(vectors.values()), b"")
        length = self._db.value("select length(vector) from vectors limit 1") or len(first)
        for vector in vectors.values():
            check_vector(vector, length)
        self._db.write("insert or ignore into models (fingerprint) values (?)", (fingerprint,))
        return int(self._db.value("select id from models where fingerprint = ?", (fingerprint,)))


def check_vector(vector: Vector, length: int) -> None:
    """
    Refuse what no index may hold.

    Raises:
        BadVector: another length than *length* bytes, not finite, or not unit length.
    """
    if len(vector) != length or not vector or len(vector) % 4:
        raise BadVector(f"it has {len(vector) // 4} dimensions, the vault's have {length // 4}")
    numbers = array("f", vector)
    norm = math.sqrt(math.fsum(x * x for x in numbers))
    if not math.isfinite(norm) or abs(norm - 1) > _UNIT_TOLERANCE:
        raise BadVector(f"its length is {norm:.3g} instead of 1")


class _Texts:
    """The texts of fragments, reading each document once: SQLite would search a body from its start each time."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._document_id = 0
        self._body = ""

    def of(self, key: int) -> str:
        sql = 'select start, "end", context, own_text from fragments where key = ?'
        start, end, context, own = self._db.rows(sql, (key,))[0]
        text = self._body_of(unpack(key).document_id)[start:end] if own is None else own
        return embedding_text(context, text)

    def _body_of(self, document_id: int) -> str:
        if document_id != self._document_id:
            sql = "select body from content join documents using (hash) where id = ?"
            self._document_id, self._body = document_id, self._db.value(sql, (document_id,)) or ""
        return self._body
