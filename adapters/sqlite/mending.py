"""Consistency of records that come from a damaged vault or a bundle: nothing dangles, and what others imply is restored."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import NamedTuple

from clawmem.adapters.sqlite.database import Database
from clawmem.adapters.sqlite.vocabulary import remove_unknown_words

_NOTHING = sha256(b"").hexdigest()
_LONG_AGO = "1970-01-01T00:00:00.000Z"
# Until its file is read again, nobody knows who wrote the text. A file that exists comes back with the next pass.
_PUT_BACK = f"""
with acted as (select act, id as at from acts where document_id = :id),
     latest as (select (select act from acted where act in ('pin', 'unpin') order by at desc limit 1) as pin,
                       (select act from acted where act in ('archive', 'restore') order by at desc limit 1) as archive,
                       exists (select 1 from acted where act in ('forget', 'purge')) as forgotten)
insert or ignore into documents (id, collection, path, title, hash, source_hash, authored_at, modified_at, indexed_at,
    content_type, confidence, quality_score, pinned, body_length, origin, inactive)
select :id, :collection, :path, :title, iif(:body is null, '{_NOTHING}', :hash), '', :at, :at, :at, 'note', .5, .5,
       coalesce(pin = 'pin', 0), length(coalesce(:body, '')), 'tool_outside',
       case when forgotten then 'forgotten' when archive = 'archive' then 'archived'
            when not :is_served or coalesce(:body, '') = '' then 'removed' end
  from latest
"""
_AWAIT_FILE = f"""
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
delete from mentions where document_id not in (select id from documents);
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
       and text_hash not in (select text_hash from embed_failures));
"""


class Losses(NamedTuple):
    """
    Documents whose text is lost, and documents whose text is partly damaged, as ``collection/path``; and the number of
    texts whose documents are lost.
    """

    notes: tuple[str, ...]
    spoilt: tuple[str, ...]
    nameless: int


def put_back(
    db: Database,
    places: Mapping[int, tuple[str, str]],
    hashes: Mapping[int, str],
    served: Mapping[int, str] | None,
) -> None:
    """
    Add a record for each document that only the indexes know. Call this inside a transaction without triggers.

    Args:
        served: Times of the documents in service, None if they are not known.
    """
    known = {number for (number,) in db.rows("select id from documents")}
    for number, (collection, path) in places.items():
        if number not in known:
            body = db.value("select body from content where hash = ?", (hashes.get(number),))
            first = (
                next((line for line in (body or "").splitlines() if line.strip()), "").lstrip("# ").strip()
            )
            about = {"id": number, "collection": collection, "path": path, "body": body}
            about |= {"title": first[:80] or path.rpartition("/")[2], "hash": hashes.get(number)}
            about |= {
                "at": (served or {}).get(number, _LONG_AGO),
                "is_served": served is None or number in served,
            }
            db.write(_PUT_BACK, about)


def mend(db: Database) -> Losses:
    """Make the records of *db* consistent. Call this inside a transaction without triggers."""
    db.write("insert or ignore into content values (?, '')", (_NOTHING,))
    nameless = db.value(
        "select count(*) from content where body <> '' and hash not in (select hash from documents)"
    )
    remove_unknown_words(db)
    lost, spoilt = _check_texts(db)
    drop_dangling(db)
    db.write(_DERIVED)
    return Losses(tuple(sorted(lost)), tuple(sorted(spoilt)), int(nameless))


def _check_texts(db: Database) -> tuple[list[str], list[str]]:
    """Check every text; return the documents whose text is lost, and those whose text is damaged."""
    lost, spoilt = [], []
    sql = "select id, collection || '/' || path, hash, source_size is not null, inactive, source_hash from documents"
    for number, place, name, is_file, inactive, source in db.rows(sql):
        body = db.value("select body from content where hash = ?", (name,))
        if inactive == "forgotten":
            db.write("update documents set hash = ? where id = ?", (_NOTHING, number))
        elif body is None or (name == _NOTHING and source == ""):
            db.write(_AWAIT_FILE, (number,))
            lost.append(place)
        elif (digest := sha256(body.encode("utf-8", "surrogatepass")).hexdigest()) != name:
            spoilt.append(place)
            if is_file:
                db.write(_AWAIT_FILE, (number,))
            else:  # nothing tells which words are right, so the text is kept in the archive
                db.write("insert or ignore into content values (?, ?)", (digest, body))
                db.write(
                    "update documents set hash = ?, inactive = 'archived' where id = ?", (digest, number)
                )
    return lost, spoilt


def drop_dangling(db: Database) -> None:
    """Delete records that refer to lost records, until no reference is dangling."""
    while broken := db.rows('select distinct "table", "parent", fkid from pragma_foreign_key_check'):
        for table, parent, number in broken:
            sql = 'select "from", "to", on_delete from pragma_foreign_key_list(?) where id = ?'
            [(column, key, on_delete)] = db.rows(sql, (table, number))
            act = f"update {table} set {column} = null" if on_delete == "SET NULL" else f"delete from {table}"
            db.write(
                f"{act} where {column} is not null and {column} not in (select {key or 'rowid'} from {parent})"
            )
