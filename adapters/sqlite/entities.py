from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Sequence

from clawmem.adapters.sqlite.database import Database
from clawmem.adapters.sqlite.scope import documents_in
from clawmem.ports.entities import DOCUMENTS_EACH, MOST_COMPANIONS, Entity, Neighbour
from clawmem.ports.errors import InvalidInput
from clawmem.ports.records import EVERYTHING, Scope

_COLUMNS = "id, name, kind, mention_count"
_MENTION = "insert or ignore into mentions select ?, key from entities where id = ?"
_MENTIONS = f"""
select {_COLUMNS} from mentions join entities on key = entity
 where document_id = ? and document_id in (select id from documents where inactive is null)
 order by id
"""
_SEARCH = f"""
select {_COLUMNS} from entities
 where key in (select rowid from entity_names where entity_names match ?) and mention_count > 0
 order by mention_count desc, id limit ?
"""
_FREQUENT = f"select {_COLUMNS} from entities where mention_count > 0 order by mention_count desc, id limit ?"
_COMPANIONS = """
select companion, max(count) as together
  from companions join entities on key = companion
 where entity in (select entity from mentions
                    join documents on documents.id = document_id and inactive is null
                   where document_id in (select value from json_each(:seeds)))
 group by companion order by together desc, entities.id limit :most
"""
_DOCUMENTS = """
select document_id from mentions join documents on documents.id = document_id and inactive is null
 where entity = :entity and document_id not in (select value from json_each(:seeds)) {seen}
 order by document_id desc limit :each
"""
_MENTIONING = """
select document_id from mentions join documents on documents.id = document_id and inactive is null
 where entity = (select key from entities where id = ?) order by document_id desc limit ?
"""
_UNKNOW = """
delete from entities
 where key = ?1
   and not exists (select 1 from mentions where entity = ?1)
   and not exists (select 1 from triples where subject = ?1 or object = ?1)
"""
_KEY = "select key from entities where id = ?"
_KNOW = "insert into entities (id, name, kind) values (?, ?, ?) on conflict (id) do nothing"
# Triples that duplicate one of the target entity, or would relate it to itself, are deleted instead of moved.
_MOVE = (
    "update or ignore triples set subject = :into where subject = :gone",
    "update or ignore triples set object = :into where object = :gone",
    "delete from triples where :gone in (subject, object) or (subject = :into and object = :into)",
    "delete from entities where key = :gone",
)
_WORD = re.compile(r"[^\W_]+")


class SqliteEntities:
    """``EntityStore`` in three tables of the vault; triggers maintain the counts."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def set_mentions(self, document_id: int, entities: Sequence[Entity]) -> None:
        with self._db.atomic():
            if not self._db.value("select 1 from documents where id = ?", (document_id,)):
                raise InvalidInput(
                    "INVALID_INPUT", f"There is no document {document_id}, so it cannot mention entities."
                )
            self._db.write("delete from mentions where document_id = ?", (document_id,))
            for one in entities:
                self._db.write(_KNOW, (one.id, one.name, one.kind))
                self._db.write(_MENTION, (document_id, one.id))

    def forget(self, document_id: int) -> int:
        with self._db.atomic():
            # All mentions go first: the trigger that counts co-occurrences needs the other entities to exist.
            gone = self._db.rows("select entity from mentions where document_id = ?", (document_id,))
            self._db.write("delete from mentions where document_id = ?", (document_id,))
            self._db.write_many(_UNKNOW, gone)
        return len(gone)

    def merge(self, entity_id: str, into: Entity) -> bool:
        with self._db.atomic():
            gone = self._db.value(_KEY, (entity_id,))
            if gone is None or entity_id == into.id:
                return False
            self._db.write(_KNOW, (into.id, into.name, into.kind))
            mentioning = self._db.write(
                "delete from mentions where entity = ? returning document_id", (gone,)
            )
            for (document_id,) in mentioning:
                self._db.write(_MENTION, (document_id, into.id))
            moved = {"gone": gone, "into": self._db.value(_KEY, (into.id,))}
            for sql in _MOVE:
                self._db.write(sql, moved)
            # the triggers may have deleted the target entity when its last reference went
            self._db.write(_KNOW, (into.id, into.name, into.kind))
        return True

    def mentions(self, document_id: int) -> list[Entity]:
        return [Entity(*row) for row in self._db.rows(_MENTIONS, (document_id,))]

    def mentioning(self, entity_id: str, limit: int) -> list[int]:
        return [number for (number,) in self._db.rows(_MENTIONING, (entity_id, max(limit, 0)))]

    def known(self, ids: Iterable[str]) -> dict[str, Entity]:
        sql = f"select {_COLUMNS} from entities where id in (select value from json_each(?))"
        return {row[0]: Entity(*row) for row in self._db.rows(sql, (json.dumps(list(ids)),))}

    def search(self, text: str, limit: int) -> list[Entity]:
        words = _WORD.findall(unicodedata.normalize("NFC", text))
        if not words:
            return []
        match = " ".join(f'"{word}"*' for word in words)
        return [Entity(*row) for row in self._db.rows(_SEARCH, (match, max(limit, 0)))]

    def frequent(self, limit: int) -> list[Entity]:
        return [Entity(*row) for row in self._db.rows(_FREQUENT, (max(limit, 0),))]

    def neighbours(
        self, document_ids: Iterable[int], limit: int, scope: Scope = EVERYTHING
    ) -> list[Neighbour]:
        seeds = json.dumps(list(document_ids))
        followed = self._db.rows(_COMPANIONS, {"seeds": seeds, "most": MOST_COMPANIONS})
        best: dict[int, int] = {}
        for entity, count in followed:  # the most frequent companion first
            for document_id in self._documents(entity, seeds, scope):
                best.setdefault(document_id, count)
        found = sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))
        return [Neighbour(*pair) for pair in found[: max(limit, 0)]]

    def _documents(self, entity: int, seeds: str, scope: Scope) -> list[int]:
        condition, bindings = documents_in(scope)
        seen = f"and document_id in ({condition})" if condition else ""
        asked = {**bindings, "entity": entity, "seeds": seeds, "each": DOCUMENTS_EACH}
        return [row[0] for row in self._db.rows(_DOCUMENTS.format(seen=seen), asked)]
