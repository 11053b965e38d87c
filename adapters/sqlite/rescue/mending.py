"""Repair of references between salvaged records: deletes dangling records and restores what others imply."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from clawmem.adapters.sqlite.database import Database
from clawmem.adapters.sqlite.embeddings import invalid_vectors
from clawmem.adapters.sqlite.vocabulary import replace_unknown_words
from clawmem.ports.digests import sha256
from clawmem.ports.journal import Act
from clawmem.ports.origin import Origin
from clawmem.ports.records import InactiveReason

_NOTHING = sha256(b"").hexdigest()
_LONG_AGO = "1970-01-01T00:00:00.000Z"
_MEDIUM = 0.5
_TITLE_LENGTH = 80


class IndexClues(NamedTuple):
    """
    Facts about documents that the indexes hold, by document id, also for documents whose record is lost.

    ``served`` maps documents in service to the time of their last change; it is complete if ``knows_served``.
    """

    places: Mapping[int, tuple[str, str]]
    hashes: Mapping[int, str]
    served: Mapping[int, str]
    knows_served: bool


class Losses(NamedTuple):
    """
    Documents whose text is lost, and documents whose text is partly damaged, as ``collection/path``; and the number of
    texts whose documents are lost.
    """

    lost: tuple[str, ...]
    spoilt: tuple[str, ...]
    nameless: int


def mend(db: Database, clues: IndexClues) -> Losses:
    """Make the records of *db* consistent. Call this inside a transaction without triggers."""
    db.write("insert or ignore into content values (?, '')", (_NOTHING,))
    _put_back_documents(db, clues)
    nameless = int(db.value(_NAMELESS))
    replace_unknown_words(db)
    lost, spoilt = _check_texts(db)
    _drop_invalid_vectors(db)
    drop_dangling(db)
    for sql in _MENDED:
        db.write(sql)
    return Losses(tuple(sorted(lost)), tuple(sorted(spoilt)), nameless)


# -- documents --------------------------------------------------------------------------------------


def _put_back_documents(db: Database, clues: IndexClues) -> None:
    known = {number for (number,) in db.rows("select id from documents")}
    taken = set(db.rows("select collection, path from documents"))
    done = _last_acts(db)
    for number, place in clues.places.items():
        if number not in known and place not in taken:
            _put_back(db, number, place, clues, done.get(number, frozenset()))


def _last_acts(db: Database) -> dict[int, frozenset[str]]:
    """Return the acts that are in effect for each document."""
    ended = {Act.UNPIN: Act.PIN, Act.RESTORE: Act.ARCHIVE}
    holding: dict[int, set[str]] = {}
    for number, act in db.rows("select document_id, act from acts order by id"):
        acts = holding.setdefault(number, set())
        acts.discard(ended.get(act, act))
        acts.add(act)
    return {number: frozenset(acts) for number, acts in holding.items()}


def _put_back(
    db: Database, number: int, place: tuple[str, str], clues: IndexClues, acts: frozenset[str]
) -> None:
    collection, path = place
    text = db.value("select body from content where hash = ?", (clues.hashes.get(number),))
    when = clues.served.get(number, _LONG_AGO)
    values = {
        "id": number,
        "collection": collection,
        "path": path,
        "title": _title(text or "") or path.rpartition("/")[2],
        "hash": _NOTHING if text is None else clues.hashes[number],
        "source_hash": "",
        "authored_at": when,
        "modified_at": when,
        "indexed_at": when,
        "content_type": "note",
        "confidence": _MEDIUM,
        "quality_score": _MEDIUM,
        "pinned": int(Act.PIN in acts),
        "body_length": len(text or ""),
        "origin": Origin.TOOL_OUTSIDE.value,  # until its file is read again, nobody knows who wrote it
        "inactive": _why_inactive(number, clues, acts, has_text=bool(text)),
    }
    names = ", ".join(values)
    marks = ", ".join(f":{name}" for name in values)
    db.write(f"insert into documents ({names}) values ({marks})", values)


def _why_inactive(number: int, clues: IndexClues, acts: frozenset[str], *, has_text: bool) -> str | None:
    if acts & {Act.FORGET, Act.PURGE}:
        return InactiveReason.FORGOTTEN.value
    if Act.ARCHIVE in acts:
        return InactiveReason.ARCHIVED.value
    is_served = number in clues.served or not clues.knows_served
    # A file that exists comes back with the next pass over its folder.
    return None if is_served and has_text else InactiveReason.REMOVED.value


def _title(text: str) -> str:
    first = next((line for line in text.splitlines() if line.strip()), "")
    return first.lstrip("# ").strip()[:_TITLE_LENGTH]


# -- texts ------------------------------------------------------------------------------------------


def _check_texts(db: Database) -> tuple[list[str], list[str]]:
    """Check every text; return the documents whose text is lost, and those whose text is damaged."""
    lost, spoilt = [], []
    sql = "select id, collection || '/' || path, hash, source_size is not null, inactive, source_hash from documents"
    for number, place, name, is_file, inactive, source in db.rows(sql):
        body = db.value("select body from content where hash = ?", (name,))
        if inactive == InactiveReason.FORGOTTEN:
            _set_text(db, number, _NOTHING)
        elif body is None or (name == _NOTHING and source == ""):
            _await_file(db, number)
            lost.append(place)
        elif (held := sha256(body.encode("utf-8", "surrogatepass")).hexdigest()) != name:
            spoilt.append(place)
            if is_file:
                _await_file(db, number)
            else:  # nothing tells which words are right, so the text is kept in the archive
                db.write("insert or ignore into content values (?, ?)", (held, body))
                _set_text(db, number, held)
                db.write(
                    "update documents set inactive = ? where id = ?", (InactiveReason.ARCHIVED.value, number)
                )
    return lost, spoilt


def _await_file(db: Database, number: int) -> None:
    """Mark a document as missing until the next pass over its folder reads its file again."""
    _set_text(db, number, _NOTHING)
    db.write(
        """update documents
              set inactive = coalesce(inactive, ?), source_hash = '', source_mtime_ns = 0, body_length = 0 where id = ?""",
        (InactiveReason.REMOVED.value, number),
    )


def _set_text(db: Database, number: int, name: str) -> None:
    db.write("update documents set hash = ? where id = ?", (name, number))


def _drop_invalid_vectors(db: Database) -> None:
    """Delete vectors that no index would accept; their texts are embedded again."""
    db.write_many("delete from space_vectors where id = ?", [(number,) for number in invalid_vectors(db)])


# -- references -------------------------------------------------------------------------------------


def drop_dangling(db: Database) -> None:
    """Delete records that refer to lost records, until no reference is dangling."""
    found = True
    while found:
        found = False
        for table in [name for (name,) in db.rows("select name from sqlite_schema where type = 'table'")]:
            sql = (
                'select "table", "from", coalesce("to", \'rowid\'), on_delete from pragma_foreign_key_list(?)'
            )
            for parent, column, key, on_delete in db.rows(sql, (table,)):
                found |= _drop_children(db, table, column, (parent, key), is_null=on_delete == "SET NULL")


def _drop_children(db: Database, table: str, column: str, parent: tuple[str, str], *, is_null: bool) -> bool:
    name, key = parent
    dangling = f"{column} is not null and {column} not in (select {key} from {name})"
    act = f"update {table} set {column} = null" if is_null else f"delete from {table}"
    db.write(f"{act} where {dangling}")
    return db.changes() > 0


UNUSED_ENTITIES = """
    delete from entities
     where key not in (select entity from mentions) and key not in (select subject from triples)
       and key not in (select object from triples where object is not null)"""
_NAMELESS = "select count(*) from content where body <> '' and hash not in (select hash from documents)"
_DOCUMENT_GONE = "not in (select id from documents)"
_MENDED = (
    f"delete from fragments where key >> 20 {_DOCUMENT_GONE}",
    f"delete from mentions where document_id {_DOCUMENT_GONE}",
    """delete from fragments where key >> 20 in (
        select id from documents where inactive = 'forgotten' or (source_hash = '' and hash = (
            select hash from content where body = '')))""",
    """delete from content where hash not in (select hash from documents)""",
    # Triggers count these otherwise, for documents in service.
    """update entities set mention_count = (
        select count(*) from mentions join documents on id = document_id
         where entity = entities.key and inactive is null)""",
    "delete from companions",
    """insert into companions
        select one.entity, other.entity, count(*)
          from mentions as one join mentions as other using (document_id) join documents on id = document_id
         where one.entity <> other.entity and inactive is null group by 1, 2""",
    UNUSED_ENTITIES,
    "insert into entity_names (entity_names) values ('delete-all')",
    "insert into entity_names (rowid, name) select key, name from entities",
    # A text without a vector is to be embedded again.
    """update documents set embed_state = 'pending' where embed_state <> 'pending' and id in (
        select key >> 20 from fragments
         where text_hash is not null and text_hash not in (select text_hash from vectors)
           and text_hash not in (select text_hash from embed_failures))""",
)
