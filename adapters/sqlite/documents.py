from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from hashlib import sha256
from operator import itemgetter
from typing import Any

from clawmem.adapters.sqlite.database import Database, Row
from clawmem.adapters.sqlite.fragments import (
    FRAGMENTS,
    SAVE_FRAGMENT,
    SPANS,
    fragment_rows,
    read_fragments,
    read_span,
)
from clawmem.adapters.sqlite.keys import by_packed, span
from clawmem.adapters.sqlite.scope import conditions
from clawmem.adapters.sqlite.sqlite_errors import invalid_record
from clawmem.ports.errors import InvalidInput
from clawmem.ports.origin import Origin
from clawmem.ports.records import (
    EVERYTHING,
    Document,
    EmbedState,
    Fragment,
    FragmentKey,
    InactiveReason,
    Scope,
    SourceStamp,
    Span,
)

_COLUMNS = tuple(name for name in Document._fields if name not in ("stamp", "id"))
_SELECT = f"select id, source_size, source_mtime_ns, {', '.join(_COLUMNS)} from documents"

# Saving a document overwrites the columns that come from its file. The columns below are learned by the vault
# (pin, accesses, duplicates) and are not overwritten.
_LEARNT = frozenset(
    {
        "pinned",
        "snoozed_until",
        "access_count",
        "last_accessed_at",
        "duplicate_count",
        "revision_count",
    }
)
_STAMP = Document._fields.index("stamp")  # the field that is stored in two columns; the id is the last field
# Keyed by position, because one query reads about a hundred documents.
_READ: dict[int, Callable[[Any], Any]] = {
    _COLUMNS.index("tags"): lambda tags: () if tags == "[]" else tuple(json.loads(tags)),
    _COLUMNS.index("aliases"): lambda names: () if names == "[]" else tuple(json.loads(names)),
    _COLUMNS.index("pinned"): bool,
    _COLUMNS.index("pinned_in_note"): bool,
    _COLUMNS.index("inactive"): lambda reason: InactiveReason(reason) if reason else None,
    _COLUMNS.index("origin"): {origin.value: origin for origin in Origin}.__getitem__,
    _COLUMNS.index("embed_state"): {state.value: state for state in EmbedState}.__getitem__,
}
_TOLD = tuple(name for name in _COLUMNS if name not in _LEARNT)
_SAVE = f"""
insert into documents ({", ".join(_COLUMNS)}, source_size, source_mtime_ns)
values ({", ".join(f":{name}" for name in _COLUMNS)}, :source_size, :source_mtime_ns)
on conflict (collection, path) do update set
    {", ".join(f"{name} = excluded.{name}" for name in _TOLD)},
    source_size = excluded.source_size, source_mtime_ns = excluded.source_mtime_ns,
    revision_count = revision_count + (documents.inactive is null and documents.hash <> excluded.hash)
returning id
"""
_MANY = f"{_SELECT} where id in (select value from json_each(?))"
_BODIES = (
    "select id, body from documents join content using (hash) where id in (select value from json_each(?))"
)
# The comparison is a row value, so that one index answers it; two separate conditions could not use the
# index.
_BESIDE = """
select id from documents
 where inactive is null and (authored_at, id) {side} (select authored_at, id from documents where id = :focus)
       {among} order by authored_at {order}, id {order} limit :limit
"""
_AMONG = "and collection = :collection"
_COMPLETE = """
update documents set embed_state = 'synced'
 where id = :id and not exists (
    select 1 from fragments where key between :first and :last and text_hash is not null
       and not exists (select 1 from embedded_texts where hash = text_hash))
"""


# A forgotten document keeps its collection and path, and loses all its content.
_NOTHING = sha256(b"").hexdigest()
_FORGET = """
update documents set
    inactive = 'forgotten', title = '', hash = :nothing, source_hash = '', tags = '[]', aliases = '[]', front_matter = '', domain = null,
    workstream = null, review_by = null, pinned = 0, pinned_in_note = 0, snoozed_until = null, access_count = 0, last_accessed_at = null,
    revision_count = 1, duplicate_count = 1, body_line = 1, body_length = 0, source_size = null, source_mtime_ns = null
 where id = :id
"""


class SqliteDocuments:
    """``DocumentStore`` in three tables: documents, content by hash, fragments by packed key."""

    def __init__(self, db: Database) -> None:
        self._db = db

    # -- writing ------------------------------------------------------------------------------------

    def save(self, document: Document, body: str, fragments: Sequence[Fragment]) -> int:
        with self._db.atomic():
            before = self.at(document.collection, document.path)
            if before and before.inactive is InactiveReason.FORGOTTEN:
                raise InvalidInput(
                    "FORGOTTEN",
                    f"{document.display_path} was forgotten on request and is not indexed again.",
                )
            self._db.write("insert or ignore into content values (?, ?)", (document.hash, body))
            document_id = int(self._db.write(_SAVE, _values(document))[0][0])
            if before and before.hash != document.hash:
                self._drop_body(before.hash)
            self._replace_fragments(document_id, fragments)
        return document_id

    def move(self, document_id: int, collection: str, path: str) -> None:
        to_place = "update documents set collection = ?, path = ? where id = ?"
        with self._db.atomic():
            moved, there = self.get(document_id), self.at(collection, path)
            if moved and there and there.id != moved.id:
                self._db.write(
                    to_place, ("", "", there.id)
                )  # paths are unique, so the path is released before the other document takes it
            self._db.write(to_place, (collection, path, document_id))
            if moved and there and there.id != moved.id:
                self._db.write(to_place, (moved.collection, moved.path, there.id))

    def touch(self, document_id: int, stamp: SourceStamp) -> None:
        self._db.write(
            "update documents set source_size = ?, source_mtime_ns = ? where id = ?",
            (stamp.size, stamp.mtime_ns, document_id),
        )

    def deactivate(self, document_ids: Iterable[int], reason: InactiveReason) -> int:
        changed = self._db.write(
            """
            update documents set inactive = ?
             where id in (select value from json_each(?)) and inactive is not 'forgotten' and inactive is not ?
            returning id, (select 1)
            """,
            (reason.value, json.dumps(list(document_ids)), reason.value),
        )
        return len(changed)

    def forget(self, document_ids: Iterable[int]) -> int:
        with self._db.atomic():
            known = self.many(document_ids).values()
            self._db.write("insert or ignore into content values (?, '')", (_NOTHING,))
            for document in known:
                self._db.write(_FORGET, {"id": document.id, "nothing": _NOTHING})
                self._db.write("delete from fragments where key between ? and ?", span(document.id))
                self._drop_body(document.hash)
            self._drop_body(_NOTHING)
        return sum(one.inactive is not InactiveReason.FORGOTTEN for one in known)

    def set_origin(self, document_ids: Iterable[int], origin: Origin) -> int:
        changed = self._db.write(
            """
            update documents set origin = ?
             where id in (select value from json_each(?)) and origin <> ? returning id, (select 1)
            """,
            (origin.value, json.dumps(list(document_ids)), origin.value),
        )
        return len(changed)

    def pin(self, document_id: int, pinned: bool) -> None:
        self._db.write("update documents set pinned = ? where id = ?", (int(pinned), document_id))

    def snooze(self, document_id: int, until: str | None) -> None:
        self._db.write("update documents set snoozed_until = ? where id = ?", (until, document_id))

    def _replace_fragments(self, document_id: int, fragments: Sequence[Fragment]) -> None:
        first, last = span(document_id)
        self._db.write("delete from fragments where key between ? and ?", (first, last))
        self._db.write_many(SAVE_FRAGMENT, fragment_rows(document_id, fragments))
        self._db.write(_COMPLETE, {"id": document_id, "first": first, "last": last})

    def _drop_body(self, body_hash: str) -> None:
        self._db.write(
            "delete from content where hash = :hash and not exists (select 1 from documents where hash = :hash)",
            {"hash": body_hash},
        )

    # -- looking up ---------------------------------------------------------------------------------

    def get(self, document_id: int) -> Document | None:
        return _first(self._db.rows(f"{_SELECT} where id = ?", (document_id,)))

    def many(self, document_ids: Iterable[int]) -> dict[int, Document]:
        return self._db.records(_MANY, document_ids, _document)

    def at(self, collection: str, path: str) -> Document | None:
        return _first(self._db.rows(f"{_SELECT} where collection = ? and path = ?", (collection, path)))

    def by_hash(self, prefix: str) -> list[Document]:
        # A range instead of LIKE: no character of the prefix is a wildcard, and the index answers it.
        sql = f"{_SELECT} where hash >= ? and hash < ? and inactive is null order by collection, path"
        return [_document(row) for row in self._db.rows(sql, (prefix, f"{prefix}g"))]

    def holding(self, hash: str) -> list[Document]:
        sql = f"{_SELECT} where hash = ? and inactive is not 'forgotten' order by collection, path"
        return [_document(row) for row in self._db.rows(sql, (hash,))]

    def by_suffix(self, suffix: str) -> list[Document]:
        sql = f"""
            {_SELECT} where inactive is null and (
                collection || '/' || path = :suffix
                or substr('/' || collection || '/' || path, -length(:suffix) - 1) = '/' || :suffix)
             order by collection, path
            """
        return [_document(row) for row in self._db.rows(sql, {"suffix": suffix})] if suffix else []

    def latest(
        self, scope: Scope = EVERYTHING, *, limit: int | None = None, active: bool = True
    ) -> list[Document]:
        limits, bindings = conditions(scope)
        wanted = ["inactive is null" if active else "inactive is not null", *limits]
        sql = (
            f"{_SELECT} where {' and '.join(wanted)} order by authored_at desc, collection, path limit :limit"
        )
        rows = self._db.rows(sql, {**bindings, "limit": -1 if limit is None else max(limit, 0)})
        return [_document(row) for row in rows]

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
        limits, bindings = conditions(scope)
        wanted = ["inactive is null", *limits, *_kinds(content_types, tags, origins)]
        kinds = {
            "content_types": json.dumps(sorted(content_types)),
            "tags": json.dumps([sorted(spellings) for spellings in tags]),
            "origins": json.dumps(sorted(origins)),
        }
        sql = f"select id from documents where {' and '.join(wanted)}"
        return frozenset(row[0] for row in self._db.rows(sql, {**bindings, **kinds}))

    def tags(self, scope: Scope = EVERYTHING) -> Mapping[str, int]:
        limits, bindings = conditions(scope)
        within = " and ".join(["inactive is null", *limits])
        tagged = f"(select tags from documents where {within}) as found, json_each(found.tags) as tag"
        sql = f"select tag.value, count(*) from {tagged} group by 1 order by 1"
        return dict(self._db.rows(sql, bindings))

    def following(self, document_id: int, limit: int) -> list[Document]:
        sql = f"{_SELECT} where id > ? and inactive is null order by id limit ?"
        return [_document(row) for row in self._db.rows(sql, (document_id, max(limit, 0)))]

    def sources(self, collection: str) -> dict[str, Document]:
        rows = self._db.stream(f"{_SELECT} where collection = ?", (collection,))
        return {document.path: document for document in map(_document, rows)}

    def collections(self, scope: Scope = EVERYTHING) -> Mapping[str, int]:
        limits, bindings = conditions(scope)
        within = " and ".join(["inactive is null", *limits])
        sql = f"select collection, count(*) from documents where {within} group by 1 order by 1"
        return dict(self._db.rows(sql, bindings))

    def written_before(self, document_id: int, limit: int, collection: str | None = None) -> list[int]:
        return self._beside("<", "desc", document_id, limit, collection)[::-1]

    def written_after(self, document_id: int, limit: int, collection: str | None = None) -> list[int]:
        return self._beside(">", "asc", document_id, limit, collection)

    def _beside(self, side: str, order: str, focus: int, limit: int, collection: str | None) -> list[int]:
        among = "" if collection is None else _AMONG
        sql = _BESIDE.format(side=side, order=order, among=among)
        asked = {"focus": focus, "limit": max(limit, 0), "collection": collection or ""}
        return [row[0] for row in self._db.rows(sql, asked)]

    # -- text ---------------------------------------------------------------------------------------

    def body(self, document_id: int) -> str | None:
        return self.bodies([document_id]).get(document_id)

    def bodies(self, document_ids: Iterable[int]) -> dict[int, str]:
        return self._db.records(_BODIES, document_ids, itemgetter(1))

    def fragments(self, document_id: int) -> list[Fragment]:
        return read_fragments(self._db.rows(FRAGMENTS, span(document_id)), self.body(document_id) or "")

    def spans(self, keys: Iterable[FragmentKey]) -> dict[FragmentKey, Span]:
        packed = by_packed(keys)
        found = self._db.records(SPANS, packed, read_span)
        return {packed[key]: span for key, span in found.items()}


def _values(document: Document) -> dict[str, Any]:
    values = {name: getattr(document, name) for name in _COLUMNS}
    stamp = document.stamp
    return {
        **values,
        "tags": json.dumps(document.tags, ensure_ascii=False),
        "aliases": json.dumps(document.aliases, ensure_ascii=False),
        "inactive": None,
        "embed_state": EmbedState.PENDING.value,
        "revision_count": 1,
        "source_size": stamp.size if stamp else None,
        "source_mtime_ns": stamp.mtime_ns if stamp else None,
    }


def _document(row: Row) -> Document:
    document_id, size, mtime_ns, *values = row
    try:
        for place, read in _READ.items():
            values[place] = read(values[place])
    except (KeyError, ValueError) as error:
        raise invalid_record() from error
    stamp = None if size is None else SourceStamp(size, mtime_ns)
    return Document._make((*values[:_STAMP], stamp, *values[_STAMP:], document_id))


def _first(rows: list[Row]) -> Document | None:
    return _document(rows[0]) if rows else None


def _kinds(
    content_types: Collection[str], tags: Collection[Collection[str]], origins: Collection[Origin]
) -> list[str]:
    possible = {
        "origin in (select value from json_each(:origins))": origins,
        "content_type in (select value from json_each(:content_types))": content_types,
        """not exists (select 1 from json_each(:tags) as wanted where not exists (
            select 1 from json_each(wanted.value) as spelling
             where spelling.value in (select value from json_each(documents.tags))))""": tags,
    }
    return [condition for condition, holds in possible.items() if holds]
