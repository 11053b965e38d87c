"""Consistency of records that come from a damaged vault or a bundle: nothing dangles, and what others imply is restored."""

from __future__ import annotations

from hashlib import sha256

from clawmem.adapters.sqlite.database import Database

_NOTHING = sha256(b"").hexdigest()
# A file that exists comes back with the next update.
_WITHOUT_TEXT = f"""
update documents set hash = '{_NOTHING}', inactive = coalesce(inactive, 'removed'), source_hash = '',
    source_mtime_ns = 0, body_length = 0 where id = ?
"""
UNUSED_ENTITIES = """
delete from entities
 where key not in (select entity from mentions) and key not in (select subject from triples)
   and key not in (select object from triples where object is not null)
"""
_DERIVED = f"""
delete from fragments where key >> 20 not in (select id from documents);
delete from fragments where key >> 20 in (
    select id from documents where inactive = 'forgotten' or (source_hash = '' and hash = '{_NOTHING}'));
delete from content where hash not in (select hash from documents);
-- Triggers count these otherwise, for documents in service.
update entities set mention_count = (
    select count(*) from mentions join documents on id = document_id where entity = entities.key and inactive is null);
delete from companions;
insert into companions
select one.entity, other.entity, count(*)
  from mentions as one join mentions as other using (document_id) join documents on id = document_id
 where one.entity <> other.entity and inactive is null group by 1, 2;
{UNUSED_ENTITIES};
insert into entity_names (entity_names) values ('delete-all');
insert into entity_names (rowid, name) select key, name from entities;
-- A text without a vector is to be embedded again.
update documents set embed_state = 'pending' where embed_state <> 'pending' and id in (
    select key >> 20 from fragments
     where text_hash is not null and text_hash not in (select hash from embedded_texts)
       and text_hash not in (select text_hash from embed_failures where state = 'serving'));
"""


def mend(db: Database) -> tuple[list[str], list[str]]:
    """
    Make the records of *db* consistent. Call this inside a transaction without triggers.

    Return the documents whose text is lost, and those whose text is partly damaged, as ``collection/path``.
    """
    db.write("insert or ignore into content values (?, '')", (_NOTHING,))
    lost, damaged = [], []
    sql = """
        select id, collection || '/' || path, hash, source_size is not null, inactive, source_hash
          from documents order by collection, path
        """
    for number, place, body_hash, is_file, inactive, source_hash in db.rows(sql):
        body = db.value("select body from content where hash = ?", (body_hash,))
        if inactive == "forgotten":
            db.write("update documents set hash = ? where id = ?", (_NOTHING, number))
        elif body is None or (body_hash == _NOTHING and source_hash == ""):
            db.write(_WITHOUT_TEXT, (number,))
            lost.append(place)
        elif (digest := sha256(body.encode("utf-8", "surrogatepass")).hexdigest()) != body_hash:
            damaged.append(place)
            if is_file:
                db.write(_WITHOUT_TEXT, (number,))
            else:  # nothing tells which words are right, so the text is kept in the archive
                db.write("insert or ignore into content values (?, ?)", (digest, body))
                sql = "update documents set hash = ?, inactive = 'archived' where id = ?"
                db.write(sql, (digest, number))
    drop_dangling(db)
    db.write(_DERIVED)
    return lost, damaged


def drop_dangling(db: Database) -> None:
    """Delete records that refer to lost records, until no reference is dangling."""
    while broken := db.rows('select distinct "table", "parent", fkid from pragma_foreign_key_check'):
        for table, parent, number in broken:
            sql = 'select "from", "to", on_delete from pragma_foreign_key_list(?) where id = ?'
            [(column, key, on_delete)] = db.rows(sql, (table, number))
            act = f"update {table} set {column} = null" if on_delete == "SET NULL" else f"delete from {table}"
            condition = f"{column} is not null and {column} not in (select {key or 'rowid'} from {parent})"
            db.write(f"{act} where {condition}")
