from __future__ import annotations

import json
from collections.abc import Iterable

from clawmem.adapters.sqlite.database import Database
from clawmem.ports.errors import InvalidInput
from clawmem.ports.succession import Claims, Succession

# From each asked document both ways: to what it names itself, and to what names it by its path or by one that a
# file of the same body had before it was renamed. (A cross join is one whose order SQLite leaves alone.)
_DIRECT = """
select older.id, newer.id
  from json_each(:asked) as asked
  cross join documents as older on older.id = asked.value and older.inactive is null
  cross join succession_claims as claim on claim.document_id = older.id and claim.kind = 'superseded_by'
  cross join documents as named on named.collection = older.collection and named.path = claim.path
  cross join documents as newer
       on newer.hash = named.hash and newer.collection = named.collection and newer.inactive is null
      and (newer.id = named.id or named.inactive = 'removed')
 where newer.id <> older.id
union
select older.id, newer.id
  from json_each(:asked) as asked
  cross join documents as older on older.id = asked.value and older.inactive is null
  cross join documents as named
       on named.hash = older.hash and named.collection = older.collection
      and (named.id = older.id or named.inactive = 'removed')
  cross join succession_claims as claim on claim.path = named.path and claim.kind = 'supersedes'
  cross join documents as newer
       on newer.id = claim.document_id and newer.collection = older.collection and newer.inactive is null
 where newer.id <> older.id
"""


class SqliteSuccessions:
    """``SuccessionStore`` in one table of paths."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def claim(self, document_id: int, claims: Claims) -> None:
        said = [("supersedes", path) for path in claims.supersedes]
        said += [("superseded_by", path) for path in claims.superseded_by]
        with self._db.atomic():
            if self._db.value("select id from documents where id = ?", (document_id,)) is None:
                raise InvalidInput(
                    "INVALID_INPUT", f"No document has the id {document_id}; it can claim nothing."
                )
            self._db.write("delete from succession_claims where document_id = ?", (document_id,))
            self._db.write_many(
                "insert or ignore into succession_claims values (?, ?, ?)",
                [(document_id, *one) for one in said],
            )

    def direct(self, document_ids: Iterable[int]) -> set[Succession]:
        asked = json.dumps(sorted(set(document_ids)))
        return {Succession(*row) for row in self._db.rows(_DIRECT, {"asked": asked})}
