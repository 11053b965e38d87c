"""Links between notes, and what notes state about their succession."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partialmethod

from clawmem.adapters.sqlite.database import Row
from clawmem.adapters.sqlite.store import Store, documents_in
from clawmem.ports.documents import (
    Claim,
    ClaimKind,
    Claims,
    Link,
    LinkKind,
    NamedNote,
    NameKind,
    NoteName,
    StoredLink,
    Succession,
)
from clawmem.ports.records import EVERYTHING, Scope

_DERIVE = "insert or ignore into derivations (child, parent) values (?, ?)"
_FIELDS = ", ".join(f"links.{name}" for name in Link._fields)
# A document that is not served is no target, whatever is stored.
_SELECT = f"""
select links.document_id, links.seq, {_FIELDS}, target.id from links
  join documents as source on source.id = links.document_id and source.inactive is null
  left join documents as target on target.id = links.target_id and target.inactive is null
"""
_ADD = f"""
insert into links (document_id, seq, {", ".join(Link._fields)}) values (?, ?{", ?" * len(Link._fields)})
"""
_IN = "in (select value from json_each(?))"
_OUTGOING = f"{_SELECT} where links.document_id {_IN} order by links.document_id, links.seq"
_INCOMING = f"""
{_SELECT} where links.target_id {_IN} and links.document_id <> links.target_id and target.id is not null
 order by links.document_id, links.seq
"""
_LAST_PART = "replace(name.key, rtrim(name.key, replace(name.key, '/', '')), '')"
_OUTDATED = f"""
with changed (id) as (select value from json_each(?)), affected (document_id, seq) as (
    select document_id, seq from links where document_id in (select id from changed)
    union
    select document_id, seq from links where target_id in (select id from changed)
    union
    select links.document_id, links.seq from changed
      cross join note_names as name on name.document_id = changed.id
      cross join links on links.key = {_LAST_PART}
)
{_SELECT} where (links.document_id, links.seq) in (select document_id, seq from affected)
 order by links.document_id, links.seq
"""
_NAMED = f"""
select key, documents.id, collection, path, min(kind) from note_names
  join documents on documents.id = document_id and inactive is null
 where key {_IN} group by key, documents.id order by min(kind), collection, path
"""


class SqliteLinks(Store):
    """``LinkStore`` in a table of links, one of names, and one of changed documents that triggers fill."""

    def put(self, document_id: int, names: Iterable[NoteName], links: Sequence[Link] | None) -> None:
        with self._db.atomic():
            self._db.write("delete from note_names where document_id = ?", (document_id,))
            rows = [(name.key, document_id, int(name.kind)) for name in names]
            self._db.write_many("insert or ignore into note_names values (?, ?, ?)", rows)
            if links is not None:
                self._db.write("delete from links where document_id = ?", (document_id,))
                self._db.write_many(_ADD, [(document_id, seq, *link) for seq, link in enumerate(links)])
            self._db.write("insert or ignore into changed_notes values (?)", (document_id,))

    def changed(self, limit: int) -> list[int]:
        return self._db.values("select document_id from changed_notes order by 1 limit ?", (max(limit, 0),))

    def named(self, keys: Iterable[str]) -> Mapping[str, Sequence[NamedNote]]:
        notes: dict[str, list[NamedNote]] = defaultdict(list)
        for key, *note, kind in self._db.rows(_NAMED, (json.dumps(sorted(set(keys))),)):
            notes[key].append(NamedNote._make((*note, NameKind(kind))))
        return notes

    def aim(self, links: Iterable[StoredLink]) -> None:
        rows = [(link.target_id, link.document_id, link.seq) for link in links]
        self._db.write_many("update links set target_id = ? where document_id = ? and seq = ?", rows)

    def settle(self, changed: Iterable[int]) -> None:
        self._db.write(f"delete from changed_notes where document_id {_IN}", (json.dumps(list(changed)),))

    def doubtful(self, scope: Scope = EVERYTHING) -> list[StoredLink]:
        documents, bindings = documents_in(scope)
        within = f"and source.id in ({documents})" if documents else ""
        where = f"where (target.id is null or links.part <> '') {within}"
        sql = f"{_SELECT} {where} order by source.collection, source.path, links.seq"
        return [_stored(row) for row in self._db.rows(sql, bindings)]

    def _links(self, sql: str, document_ids: Iterable[int]) -> list[StoredLink]:
        return [_stored(row) for row in self._db.rows(sql, (json.dumps(sorted(set(document_ids))),))]

    outgoing = partialmethod(_links, _OUTGOING)
    incoming = partialmethod(_links, _INCOMING)
    outdated = partialmethod(_links, _OUTDATED)


def _stored(row: Row) -> StoredLink:
    document_id, seq, kind, *rest, target_id = row
    return StoredLink(document_id, seq, Link(LinkKind(kind), *rest), target_id)


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
      cross join succession_claims as claim on claim.document_id = asked.id and claim.kind <> 'supersedes'
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
select older, newer from direct
"""

_CLAIMS = """
select claim.document_id, claim.kind, claim.address, claim.collection, claim.target
  from succession_claims as claim join documents on documents.id = claim.document_id
 where documents.inactive is null
 order by claim.document_id, claim.kind, claim.address
"""
_WITHDRAW = "delete from succession_claims where document_id = ? and"
_DECIDE = """
insert into succession_claims select ?, 'replaced_by', id || '', collection, path from documents where id = ?
"""
_AIM = """
update succession_claims set collection = ?, target = ? where document_id = ? and kind = ? and address = ?
"""


class SqliteDerivations(Store):
    """``DerivationStore`` in one table."""

    def derive(self, child: int, parents: Iterable[int]) -> None:
        self._db.write("delete from derivations where child = ?", (child,))
        self._db.write_many(_DERIVE, [(child, parent) for parent in parents])

    def children(self, parent: int) -> list[int]:
        return self._db.values("select child from derivations where parent = ? order by child", (parent,))


class SqliteSuccessions(Store):
    """``SuccessionStore`` in one table of addresses, each with the path that it resolves to."""

    def claim(self, document_id: int, claims: Claims) -> None:
        addresses = [(ClaimKind.SUPERSEDES, address) for address in claims.supersedes]
        addresses += [(ClaimKind.SUPERSEDED_BY, address) for address in claims.superseded_by]
        with self._db.atomic():
            collection = self._db.value("select collection from documents where id = ?", (document_id,))
            self._db.write(f"{_WITHDRAW} kind <> 'replaced_by'", (document_id,))
            rows = [(document_id, kind, address, collection or "", address) for kind, address in addresses]
            self._db.write_many("insert or ignore into succession_claims values (?, ?, ?, ?, ?)", rows)

    def decide(self, older: int, newer: int | None) -> None:
        with self._db.atomic():
            self._db.write(f"{_WITHDRAW} kind = 'replaced_by'", (older,))
            self._db.write(_DECIDE, (older, newer))

    def claims(self) -> list[Claim]:
        return [
            Claim(number, ClaimKind(kind), address, (collection, target))
            for number, kind, address, collection, target in self._db.rows(_CLAIMS)
        ]

    def aim(self, claim: Claim) -> None:
        self._db.write(_AIM, (*claim.place, claim.document_id, claim.kind, claim.address))

    def direct(self, document_ids: Iterable[int]) -> set[Succession]:
        return {Succession(*row) for row in self._db.rows(_DIRECT, (json.dumps(sorted(set(document_ids))),))}
