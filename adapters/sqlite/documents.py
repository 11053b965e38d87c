"""Documents, their texts, their fragments and their properties."""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from clawmem.adapters.sqlite.database import Bindings, Row
from clawmem.adapters.sqlite.knowledge import DROP_UNUSED
from clawmem.adapters.sqlite.sqlite_errors import invalid_record
from clawmem.adapters.sqlite.store import Store, condition, pack, span, text_hash, unpack
from clawmem.ports.documents import Property, PropertyFilter
from clawmem.ports.errors import InvalidInput
from clawmem.ports.records import (
    EVERYTHING,
    Document,
    EmbedState,
    Fragment,
    FragmentKey,
    FragmentKind,
    InactiveReason,
    Origin,
    Scope,
    SourceStamp,
    Span,
)

_COLUMNS = ["source_size" if name == "stamp" else name for name in Document._fields]
_SELECT = f"select {', '.join(_COLUMNS)}, source_mtime_ns from documents"
# Keyed by position, because one query reads about a hundred documents.
_READERS: dict[str, Callable[[Any], Any]] = {
    "tags": lambda tags: () if tags == "[]" else tuple(json.loads(tags)),
    "aliases": lambda names: () if names == "[]" else tuple(json.loads(names)),
    "pinned": bool,
    "pinned_in_note": bool,
    "inactive": lambda reason: InactiveReason(reason) if reason else None,
    "origin": {origin.value: origin for origin in Origin}.__getitem__,
    "embed_state": {state.value: state for state in EmbedState}.__getitem__,
}
_READ = {Document._fields.index(name): read for name, read in _READERS.items()}
_STAMP = Document._fields.index("stamp")
_SAVED = (
    *(name for name in Document._fields if name not in ("stamp", "id")),
    "source_size",
    "source_mtime_ns",
)
# Saving a document overwrites the columns that come from its file, and not those that the vault learns.
_LEARNT = ("pinned", "snoozed_until", "access_count", "last_accessed_at", "duplicate_count", "revision_count")
_SAVE = f"""
insert into documents ({", ".join(_SAVED)}) values ({", ".join(f":{name}" for name in _SAVED)})
on conflict (collection, path) do update set
    {", ".join(f"{name} = excluded.{name}" for name in _SAVED if name not in _LEARNT)},
    revision_count = revision_count + (documents.inactive is null and documents.hash <> excluded.hash)
returning id
"""
_BODIES = """
select id, body from documents join content using (hash) where id in (select value from json_each(?)) order by id
"""
_COMPLETE = """
update documents set embed_state = 'synced'
 where id = :id and not exists (
    select 1 from fragments where key between :first and :last and text_hash is not null
       and not exists (select 1 from embedded_texts where hash = text_hash))
"""
NOTHING = sha256(b"").hexdigest()
# A forgotten document keeps its collection and path, and loses all its content and everything derived from it.
_FORGET = """
update documents set
    inactive = 'forgotten', title = '', hash = :nothing, first_hash = '', source_hash = '', tags = '[]', aliases = '[]', front_matter = '', domain = null,
    workstream = null, review_by = null, pinned = 0, pinned_in_note = 0, snoozed_until = null, access_count = 0, last_accessed_at = null,
    revision_count = 1, duplicate_count = 1, body_line = 1, body_length = 0, source_size = null, source_mtime_ns = null
 where id = :id;
delete from fragments where key between :first and :last;
delete from properties where document_id = :id;
delete from succession_claims where document_id = :id and kind <> 'replaced_by';
delete from links where document_id = :id;
delete from note_names where document_id = :id;
delete from relations where source = :id or target = :id;
update or ignore triples set valid_to = null, ended_by = null where ended_by = :id;
delete from triples where document_id = :id;
delete from mentions where document_id = :id;
delete from enriched
 where document_id = :id or document_id in (select document_id from notes where cause = :id);
delete from notes where document_id = :id or exists (
    select 1 from notes as caused
     where caused.cause = :id and caused.document_id = notes.document_id and caused.version <= notes.version);
update sightings set quote = '', payload = '' where document_id = :id;
update acts set why = '' where document_id = :id;
update sessions set summary = '', files_changed = '[]' where handoff_path = :place;
"""
_DEACTIVATE = """
update documents set inactive = :reason
 where id in (select value from json_each(:ids)) and inactive is not 'forgotten' and inactive is not :reason
"""
_BY_SUFFIX = """
where inactive is null and (
    collection || '/' || path = :suffix
    or substr('/' || collection || '/' || path, -length(:suffix) - 1) = '/' || :suffix)
 order by collection, path
"""
_NEIGHBOURS = """
select id from documents
 where inactive is null and (authored_at, id) {side} (select authored_at, id from documents where id = :focus)
       {among} order by authored_at {order}, id {order} limit :limit
"""
_FRAGMENTS = """
select key, kind, start_line, end_line, start, "end", own_text, label, heading, context
  from fragments where key between ? and ? order by key
"""
_SPANS = """
select fragments.key, kind, start_line, end_line, start, "end", label, heading
  from json_each(?) as wanted
  join fragments on fragments.key = wanted.value
  join documents on documents.id = fragments.key >> 20 and inactive is null
 order by fragments.key
"""


_MOVE_CLAIMS = """
update succession_claims set collection = ?, target = ? where collection = ? and target = ?
"""


class SqliteDocuments(Store):
    """``DocumentStore`` in three tables: documents, content by hash, fragments by packed key."""

    # -- writing ------------------------------------------------------------------------------------

    def save(self, document: Document, body: str, fragments: Sequence[Fragment]) -> int:
        with self._db.atomic():
            place = document.collection, document.path
            sql = "select hash, first_hash, inactive from documents where collection = ? and path = ?"
            former_hash, first_hash, inactive = self._db.row(sql, place) or (None, "", None)
            if inactive == InactiveReason.FORGOTTEN:
                reason = f"{document.display_path} was forgotten on request and is not indexed again."
                raise InvalidInput("FORGOTTEN", reason)
            self._db.write("insert or ignore into content values (?, ?)", (document.hash, body))
            # Until one of them is edited, notes made from one template have the same first hash.
            sql = "select 1 from documents where first_hash = ? and (collection, path) <> (?, ?)"
            if not first_hash or (former_hash != document.hash and self._db.row(sql, (first_hash, *place))):
                of_place = sha256(document.display_path.encode("utf-8", "surrogatepass")).hexdigest()
                first_hash = document.hash if body.strip() else of_place  # all empty texts are the same
            stamp = document.stamp
            values = {
                **document._asdict(),
                "first_hash": first_hash,
                "tags": json.dumps(document.tags, ensure_ascii=False),
                "aliases": json.dumps(document.aliases, ensure_ascii=False),
                "inactive": None,
                "embed_state": EmbedState.PENDING.value,
                "revision_count": 1,
                "source_size": stamp.size if stamp else None,
                "source_mtime_ns": stamp.mtime_ns if stamp else None,
            }
            document_id = int(self._db.write(_SAVE, values)[0][0])
            if former_hash not in (None, document.hash):
                self._drop_body(former_hash)
            first, last = span(document_id)
            self._db.write("delete from fragments where key between ? and ?", (first, last))
            rows = [
                (
                    pack(FragmentKey(document_id, part.seq)),
                    part.kind.value,
                    *(part.start_line, part.end_line, part.start, part.end),
                    *(part.label, part.heading, part.context),
                    part.text if part.kind is FragmentKind.FRONT_MATTER else None,
                    text_hash(part),
                )
                for part in fragments
            ]
            self._db.write_many(f"insert into fragments values ({', '.join('?' * 11)})", rows)
            self._db.write(_COMPLETE, {"id": document_id, "first": first, "last": last})
        return document_id

    def move(self, document_id: int, collection: str, path: str) -> None:
        sql = "update documents set collection = ?, path = ? where id = ?"
        with self._db.atomic():
            moved, other = self.get(document_id), self.at(collection, path)
            if not moved or not other or moved.id == other.id:
                self._db.write(sql, (collection, path, document_id))
                if moved:
                    self._db.write(_MOVE_CLAIMS, (collection, path, moved.collection, moved.path))
                return
            self._db.write(sql, ("", "", other.id))  # paths are unique, so the path is released first
            self._db.write(sql, (collection, path, document_id))
            self._db.write(sql, (moved.collection, moved.path, other.id))

    def touch(self, document_id: int, stamp: SourceStamp) -> None:
        sql = "update documents set source_size = ?, source_mtime_ns = ? where id = ?"
        self._db.write(sql, (stamp.size, stamp.mtime_ns, document_id))

    def deactivate(self, document_ids: Iterable[int], reason: InactiveReason) -> int:
        return self._db.change(_DEACTIVATE, {"reason": reason, "ids": json.dumps(list(document_ids))})

    def forget(self, document_ids: Iterable[int]) -> int:
        with self._db.atomic():
            documents = self.many(document_ids).values()
            self._db.write("insert or ignore into content values (?, '')", (NOTHING,))
            for document in documents:
                mentioned = self._db.rows("select entity from mentions where document_id = ?", (document.id,))
                first, last = span(document.id)
                place = document.display_path
                values = {"id": document.id, "nothing": NOTHING, "first": first, "last": last, "place": place}
                self._db.write(_FORGET, values)
                self._db.write_many(DROP_UNUSED, mentioned)
                self._drop_body(document.hash)
            self._drop_body(NOTHING)
        return sum(document.inactive is not InactiveReason.FORGOTTEN for document in documents)

    def set_origin(self, document_ids: Iterable[int], origin: Origin) -> int:
        sql = "update documents set origin = :origin where id in (select value from json_each(:ids)) and origin <> :origin"
        return self._db.change(sql, {"origin": origin, "ids": json.dumps(list(document_ids))})

    def pin(self, document_id: int, pinned: bool) -> None:
        self._db.write("update documents set pinned = ? where id = ?", (int(pinned), document_id))

    def snooze(self, document_id: int, until: str | None) -> None:
        self._db.write("update documents set snoozed_until = ? where id = ?", (until, document_id))

    def _drop_body(self, body_hash: str) -> None:
        sql = "delete from content where hash = :hash and not exists (select 1 from documents where hash = :hash)"
        self._db.write(sql, {"hash": body_hash})

    # -- looking up ---------------------------------------------------------------------------------

    def get(self, document_id: int) -> Document | None:
        return self.many([document_id]).get(document_id)

    def many(self, document_ids: Iterable[int]) -> dict[int, Document]:
        ids = json.dumps(list(document_ids))
        found = self._documents("where id in (select value from json_each(?)) order by id", (ids,))
        return {document.id: document for document in found}

    def at(self, collection: str, path: str) -> Document | None:
        return next(iter(self._documents("where collection = ? and path = ?", (collection, path))), None)

    def by_docid(self, prefix: str) -> list[Document]:
        # A range instead of LIKE: no character of the prefix is a wildcard, and the index answers it.
        sql = "where first_hash >= ? and first_hash < ? and inactive is null order by collection, path"
        return self._documents(sql, (prefix, f"{prefix}g"))

    def holding(self, hash: str) -> list[Document]:
        documents = self._documents("where hash = ? and inactive is not 'forgotten'", (hash,))
        return sorted(documents, key=lambda document: (document.collection, document.path))

    def by_suffix(self, suffix: str) -> list[Document]:
        return self._documents(_BY_SUFFIX, {"suffix": suffix}) if suffix else []

    def latest(
        self, scope: Scope = EVERYTHING, *, limit: int | None = None, active: bool = True
    ) -> list[Document]:
        within, bindings = condition(scope, "inactive is null" if active else "inactive is not null")
        sql = f"where {within} order by authored_at desc, collection, path limit :limit"
        return self._documents(sql, {**bindings, "limit": -1 if limit is None else max(limit, 0)})

    def places(self) -> list[tuple[str, str]]:
        sql = "select collection, path from documents where inactive is null order by collection, path"
        return self._db.rows(sql)

    def ids(
        self,
        scope: Scope = EVERYTHING,
        *,
        content_types: Collection[str] = (),
        tags: Collection[Collection[str]] = (),
        origins: Collection[Origin] = (),
    ) -> frozenset[int]:
        kinds = {
            "origin in (select value from json_each(:origins))": origins,
            "content_type in (select value from json_each(:content_types))": content_types,
            """not exists (select 1 from json_each(:tags) as wanted where not exists (
                select 1 from json_each(wanted.value) as spelling
                 where spelling.value in (select value from json_each(documents.tags))))""": tags,
        }
        wanted = [kind for kind, values in kinds.items() if values]
        within, bindings = condition(scope, "inactive is null", *wanted)
        bindings |= {
            "content_types": json.dumps(sorted(content_types)),
            "tags": json.dumps([sorted(spellings) for spellings in tags]),
            "origins": json.dumps(sorted(origins)),
        }
        return frozenset(self._db.values(f"select id from documents where {within}", bindings))

    def tags(self) -> Mapping[str, int]:
        tagged = "documents, json_each(documents.tags) as tag where inactive is null"
        return dict(self._db.rows(f"select tag.value, count() from {tagged} group by 1 order by 1"))

    def following(self, document_id: int, limit: int) -> list[Document]:
        sql = "where id > ? and inactive is null order by id limit ?"
        return self._documents(sql, (document_id, max(limit, 0)))

    def sources(self, collection: str) -> dict[str, Document]:
        rows = self._db.stream(f"{_SELECT} where collection = ?", (collection,))
        return {document.path: document for document in map(_document, rows)}

    def folder(self, collection: str) -> str | None:
        return self._db.meta(f"folder:{collection}")

    def set_folder(self, collection: str, folder: str) -> None:
        self._db.write("insert or replace into meta values (?, ?)", (f"folder:{collection}", folder))

    def collections(self, scope: Scope = EVERYTHING) -> Mapping[str, int]:
        within, bindings = condition(scope, "inactive is null")
        sql = f"select collection, count(*) from documents where {within} group by 1 order by 1"
        return dict(self._db.rows(sql, bindings))

    def written_near(
        self, document_id: int, limit: int, collection: str | None = None, *, after: bool = False
    ) -> list[int]:
        # The comparison is a row value, so that one index answers it.
        side, order = (">", "asc") if after else ("<", "desc")
        among = "" if collection is None else "and collection = :collection"
        sql = _NEIGHBOURS.format(side=side, order=order, among=among)
        bindings = {"focus": document_id, "limit": max(limit, 0), "collection": collection}
        return self._db.values(sql, bindings)[:: 1 if after else -1]

    def _documents(self, where: str, bindings: Bindings) -> list[Document]:
        return [_document(row) for row in self._db.rows(f"{_SELECT} {where}", bindings)]

    # -- text ---------------------------------------------------------------------------------------

    def body(self, document_id: int) -> str | None:
        return self.bodies([document_id]).get(document_id)

    def bodies(self, document_ids: Iterable[int]) -> dict[int, str]:
        return dict(self._db.rows(_BODIES, (json.dumps(list(document_ids)),)))

    def fragments(self, document_id: int) -> list[Fragment]:
        body = self.body(document_id) or ""
        fragments = []
        for key, kind, *lines, start, end, own, label, heading, context in self._db.rows(
            _FRAGMENTS, span(document_id)
        ):
            part = (unpack(key).seq, _kind(kind), *lines, start, end, body[start:end] if own is None else own)
            fragments.append(Fragment._make((*part, label, heading, context)))
        return fragments

    def spans(self, keys: Iterable[FragmentKey]) -> dict[FragmentKey, Span]:
        rows = self._db.rows(_SPANS, (json.dumps([pack(key) for key in keys]),))
        spans = (Span(unpack(key), _kind(kind), *rest) for key, kind, *rest in rows)
        return {span.key: span for span in spans}


def _kind(word: str) -> FragmentKind:
    try:
        return FragmentKind(word)
    except ValueError as error:
        raise invalid_record() from error


def _document(row: Row) -> Document:
    *values, mtime_ns = row
    if values[_STAMP] is not None:
        values[_STAMP] = SourceStamp(values[_STAMP], mtime_ns)
    try:
        for place, read in _READ.items():
            values[place] = read(values[place])
    except (KeyError, ValueError) as error:
        raise invalid_record() from error
    return Document._make(values)


_MANY = """
select document_id, name, value, coalesce(key, value) from properties
 where document_id in (select value from json_each(?)) order by document_id, seq
"""
_NAMED = """
select document_id, name, value, coalesce(key, value) from properties
  join documents on id = document_id and inactive is null
 where name = ? collate nocase order by document_id, seq
"""
_NAMES = """
select min(name), count(distinct document_id) from properties
  join documents on id = document_id and inactive is null
 group by name collate nocase order by 1
"""
_VALUES = """
select min(value), count(distinct document_id) as number from properties
  join documents on id = document_id and {within}
 where name = :name collate nocase group by coalesce(key, value) order by number desc, coalesce(key, value)
"""
_HAVING = """
select document_id from properties
 where name = :name collate nocase and case when :key is null then value <> '' else coalesce(key, value) = :key end
"""


class SqliteProperties(Store):
    """``PropertyStore`` in one table; the form for comparison is stored where it differs from the value."""

    def put(self, document_id: int, properties: Iterable[Property]) -> None:
        with self._db.atomic():
            self._db.write("delete from properties where document_id = ?", (document_id,))
            rows = [
                (document_id, seq, name, value, key if key != value else None)
                for seq, (name, value, key) in enumerate(properties)
            ]
            self._db.write_many("insert into properties values (?, ?, ?, ?, ?)", rows)

    def many(self, document_ids: Iterable[int]) -> dict[int, list[Property]]:
        return self._by_document(_MANY, json.dumps([*document_ids]))

    def named(self, name: str) -> Mapping[int, Sequence[Property]]:
        return self._by_document(_NAMED, name)

    def names(self) -> Mapping[str, int]:
        return dict(self._db.rows(_NAMES))

    def values(self, name: str, scope: Scope = EVERYTHING) -> Mapping[str, int]:
        within, bindings = condition(scope, "inactive is null")
        return dict(self._db.rows(_VALUES.format(within=within), {**bindings, "name": name}))

    def having(self, filters: Iterable[PropertyFilter]) -> frozenset[int]:
        documents = frozenset(self._db.values("select id from documents where inactive is null"))
        for wanted in filters:
            having = frozenset(self._db.values(_HAVING, {"name": wanted.name, "key": wanted.key}))
            documents = documents - having if wanted.is_negated else documents & having
        return documents

    def _by_document(self, sql: str, binding: str) -> dict[int, list[Property]]:
        properties: dict[int, list[Property]] = {}
        for document_id, *row in self._db.rows(sql, (binding,)):
            properties.setdefault(document_id, []).append(Property(*row))
        return properties
