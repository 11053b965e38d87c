from __future__ import annotations

import json
from collections.abc import Iterable

from clawmem.adapters.sqlite.database import Database
from clawmem.ports.errors import InvalidInput
from clawmem.ports.succession import Claim, ClaimKind, Claims, Succession

# For each asked document, follow claims in both directions: to documents that it names, and to documents that
# name its path or a former path. (SQLite does not reorder a cross join.) A renamed file is recognized by its
# body: a record at the old path stays as removed.
_DIRECT = """
with asked as (
    select id, collection, path, hash from documents
     where id in (select value from json_each(?)) and inactive is null
), known_as as (
    select id, collection, path from asked
    union all
    select asked.id, former.collection, former.path
      from asked cross join documents as former
           on former.hash = asked.hash and former.inactive = 'removed' and former.collection = asked.collection
), at_path as (
    select asked.id as older, named.id as named, named.hash, named.collection, named.inactive
      from asked
      cross join succession_claims as claim on claim.document_id = asked.id and claim.kind = 'superseded_by'
      cross join documents as named on named.collection = claim.collection and named.path = claim.target
), direct (older, newer) as (
    select older, named from at_path where inactive is null and named <> older
    union
    select at_path.older, newer.id
      from at_path cross join documents as newer
           on newer.hash = at_path.hash and newer.collection = at_path.collection and newer.inactive is null
     where at_path.inactive = 'removed' and newer.id <> at_path.older
    union
    select known_as.id, newer.id
      from known_as
      cross join succession_claims as claim
           on claim.target = known_as.path and claim.collection = known_as.collection and claim.kind = 'supersedes'
      cross join documents as newer on newer.id = claim.document_id and newer.inactive is null
     where newer.id <> known_as.id
)
select older, json_group_array(newer) from direct group by older
"""

_CLAIMS = """
select claim.document_id, claim.kind, claim.address, claim.collection, claim.target
  from succession_claims as claim join documents on documents.id = claim.document_id
 where documents.inactive is null
 order by claim.document_id, claim.kind, claim.address
"""
_AIM = """
update succession_claims set collection = ?, target = ? where document_id = ? and kind = ? and address = ?
"""


class SqliteSuccessions:
    """``SuccessionStore`` in one table of addresses, each with the path that it resolves to."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def claim(self, document_id: int, claims: Claims) -> None:
        said = [(ClaimKind.SUPERSEDES, address) for address in claims.supersedes]
        said += [(ClaimKind.SUPERSEDED_BY, address) for address in claims.superseded_by]
        with self._db.atomic():
            collection = self._db.value("select collection from documents where id = ?", (document_id,))
            if collection is None:
                raise InvalidInput(
                    "INVALID_INPUT", f"There is no document {document_id}, so it cannot supersede others."
                )
            self._db.write("delete from succession_claims where document_id = ?", (document_id,))
            self._db.write_many(
                "insert or ignore into succession_claims values (?, ?, ?, ?, ?)",
                [(document_id, kind, address, collection, address) for kind, address in said],
            )

    def claims(self) -> list[Claim]:
        return [
            Claim(number, ClaimKind(kind), address, (collection, target))
            for number, kind, address, collection, target in self._db.rows(_CLAIMS)
        ]

    def aim(self, claim: Claim) -> None:
        self._db.write(_AIM, (*claim.place, claim.document_id, claim.kind, claim.address))

    def direct(self, document_ids: Iterable[int]) -> set[Succession]:
        found = self._db.records(_DIRECT, document_ids, lambda row: json.loads(row[1]))
        return {Succession(older, newer) for older, every in found.items() for newer in every}


# The comparison is a row value, so that one index answers it; two separate conditions could not use the
# index.
_BESIDE = """
select id from documents
 where inactive is null and (authored_at, id) {side} (select authored_at, id from documents where id = :focus)
       {among} order by authored_at {order}, id {order} limit :limit
"""
_AMONG = "and collection = :collection"


class SqliteChronology:
    """``Chronology`` over the documents of the vault."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def before(self, document_id: int, limit: int, collection: str | None = None) -> list[int]:
        return self._beside("<", "desc", document_id, limit, collection)[::-1]

    def after(self, document_id: int, limit: int, collection: str | None = None) -> list[int]:
        return self._beside(">", "asc", document_id, limit, collection)

    def _beside(self, side: str, order: str, focus: int, limit: int, collection: str | None) -> list[int]:
        among = "" if collection is None else _AMONG
        sql = _BESIDE.format(side=side, order=order, among=among)
        asked = {"focus": focus, "limit": max(limit, 0), "collection": collection or ""}
        return [row[0] for row in self._db.rows(sql, asked)]
