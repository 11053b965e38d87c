from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from clawmem.adapters.memory.scope import is_in
from clawmem.adapters.memory.tables import Tables, embedded_texts
from clawmem.ports.errors import InvalidInput
from clawmem.ports.origin import Origin
from clawmem.ports.records import (
    EVERYTHING,
    Document,
    Fragment,
    FragmentKey,
    FragmentKind,
    InactiveReason,
    Scope,
    SourceStamp,
    Span,
)

_NOTHING = sha256(b"").hexdigest()


class MemoryDocuments:
    """Reference ``DocumentStore`` over dictionaries."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def save(self, document: Document, body: str, fragments: Sequence[Fragment]) -> int:
        before = self.at(document.collection, document.path)
        after = _replaced(before, document) if before else self._inserted(document)
        ordered = tuple(sorted(fragments, key=lambda fragment: fragment.seq))
        self._tables.documents[after.id] = after
        self._tables.fragments[after.id] = ordered
        self._tables.forget_sketches(after.id)
        self._tables.texts[after.id] = embedded_texts(after.id, ordered)
        self._tables.bodies[after.hash] = body
        self._drop_unused_bodies()
        self._tables.note_change(after.id, is_text=True)
        return after.id

    def move(self, document_id: int, collection: str, path: str) -> None:
        moved, there = self.get(document_id), self.at(collection, path)
        if moved and there:
            self._learn(there.id, collection=moved.collection, path=moved.path)
        self._learn(document_id, collection=collection, path=path)

    def touch(self, document_id: int, stamp: SourceStamp) -> None:
        documents = self._tables.documents
        if document_id in documents:
            documents[document_id] = documents[document_id]._replace(stamp=stamp)

    def deactivate(self, document_ids: Iterable[int], reason: InactiveReason) -> int:
        found = self.many(document_ids).values()
        for document in found:
            if document.inactive is not InactiveReason.FORGOTTEN:
                self._tables.documents[document.id] = document._replace(inactive=reason)
                self._tables.note_change(document.id, is_text=True)
        return sum(document.inactive is None for document in found)

    def forget(self, document_ids: Iterable[int]) -> int:
        found = self.many(document_ids).values()
        for document in found:
            self._tables.documents[document.id] = _emptied(document)
            self._tables.fragments[document.id] = ()
            self._tables.texts[document.id] = ()
            self._tables.forget_sketches(document.id)
            self._tables.note_change(document.id, is_text=True)
        self._tables.bodies[_NOTHING] = ""
        self._drop_unused_bodies()
        return sum(document.inactive is not InactiveReason.FORGOTTEN for document in found)

    def set_origin(self, document_ids: Iterable[int], origin: Origin) -> int:
        changed = [one for one in self.many(document_ids).values() if one.origin is not origin]
        for document in changed:
            self._learn(document.id, origin=origin)
        return len(changed)

    def pin(self, document_id: int, pinned: bool) -> None:
        self._learn(document_id, pinned=pinned)

    def snooze(self, document_id: int, until: str | None) -> None:
        self._learn(document_id, snoozed_until=until)

    def get(self, document_id: int) -> Document | None:
        return self._tables.seen(document_id) if document_id in self._tables.documents else None

    def many(self, document_ids: Iterable[int]) -> dict[int, Document]:
        known = self._tables.documents.keys() & set(document_ids)
        return {document_id: self._tables.seen(document_id) for document_id in known}

    def at(self, collection: str, path: str) -> Document | None:
        rows = self._tables.documents.values()
        place = (collection, path)
        return next((self._tables.seen(row.id) for row in rows if _place(row) == place), None)

    def by_hash(self, prefix: str) -> list[Document]:
        return sorted((found for found in self._active() if found.hash.startswith(prefix)), key=_place)

    def holding(self, hash: str) -> list[Document]:
        found = (one for one in self._all() if one.hash == hash)
        return sorted((one for one in found if one.inactive is not InactiveReason.FORGOTTEN), key=_place)

    def by_suffix(self, suffix: str) -> list[Document]:
        fitting = (found for found in self._active() if f"/{found.display_path}".endswith(f"/{suffix}"))
        return sorted(fitting, key=_place)

    def latest(
        self, scope: Scope = EVERYTHING, *, limit: int | None = None, active: bool = True
    ) -> list[Document]:
        chosen = [
            found for found in self._all() if (found.inactive is None) is active and is_in(scope, found)
        ]
        # The second sort is stable: newest first, and by path for equal times.
        newest_first = sorted(sorted(chosen, key=_place), key=lambda found: found.authored_at, reverse=True)
        return newest_first if limit is None else newest_first[: max(limit, 0)]

    def ids(
        self,
        scope: Scope = EVERYTHING,
        *,
        content_types: Collection[str] = (),
        tags: Collection[str] = (),
        origins: Collection[Origin] = (),
    ) -> frozenset[int]:
        wanted = {tag.lower() for tag in tags}
        return frozenset(
            found.id
            for found in self._active()
            if is_in(scope, found)
            and (not content_types or found.content_type in content_types)
            and (not origins or found.origin in origins)
            and wanted <= {tag.lower() for tag in found.tags}
        )

    def following(self, document_id: int, limit: int) -> list[Document]:
        later = sorted((d for d in self._active() if d.id > document_id), key=lambda d: d.id)
        return later[: max(limit, 0)]

    def sources(self, collection: str) -> dict[str, Document]:
        return {found.path: found for found in self._all() if found.collection == collection}

    def body(self, document_id: int) -> str | None:
        document = self._tables.documents.get(document_id)
        return self._tables.bodies[document.hash] if document else None

    def bodies(self, document_ids: Iterable[int]) -> dict[int, str]:
        found = ((number, self.body(number)) for number in document_ids)
        return {number: body for number, body in found if body is not None}

    def fragments(self, document_id: int) -> list[Fragment]:
        return [*self._tables.fragments.get(document_id, ())]

    def spans(self, keys: Iterable[FragmentKey]) -> dict[FragmentKey, Span]:
        asked = set(keys)
        served = {document.id for document in self._active()} & {key.document_id for key in asked}
        found = (_span(number, fragment) for number in served for fragment in self._tables.fragments[number])
        return {span.key: span for span in found if span.key in asked}

    def labels(self, keys: Iterable[FragmentKey]) -> dict[FragmentKey, str]:
        spans = self.spans(keys).items()
        return {key: span.label for key, span in spans if span.label and span.kind is FragmentKind.LINE}

    def places(self) -> list[tuple[str, str]]:
        return sorted((document.collection, document.path) for document in self._active())

    def collections(self) -> Mapping[str, int]:
        names = sorted(document.collection for document in self._active())
        return {name: names.count(name) for name in names}

    def hash_prefixes(self, length: int, hashes: Iterable[str]) -> set[str]:
        beginnings = {asked[:length] for asked in hashes}
        return {found.hash for found in self._active() if found.hash[:length] in beginnings}

    def _learn(self, document_id: int, **learnt: Any) -> None:
        known = self._tables.documents.get(document_id)
        if known:
            self._tables.documents[document_id] = known._replace(**learnt)

    def _inserted(self, document: Document) -> Document:
        new = max(self._tables.documents, default=0) + 1
        return document._replace(id=new, revision_count=1, inactive=None)

    def _drop_unused_bodies(self) -> None:
        used = {document.hash for document in self._tables.documents.values()}
        for unused in self._tables.bodies.keys() - used:
            del self._tables.bodies[unused]

    def _all(self) -> list[Document]:
        return [self._tables.seen(document_id) for document_id in self._tables.documents]

    def _active(self) -> list[Document]:
        return [document for document in self._all() if document.inactive is None]


def _replaced(before: Document, after: Document) -> Document:
    if before.inactive is InactiveReason.FORGOTTEN:
        raise InvalidInput("FORGOTTEN", f"{before.display_path} was forgotten. Restore it to have it back.")
    is_revision = before.inactive is None and before.hash != after.hash
    return after._replace(
        id=before.id,
        inactive=None,
        revision_count=before.revision_count + is_revision,
        pinned=before.pinned,
        access_count=before.access_count,
        snoozed_until=before.snoozed_until,
        last_accessed_at=before.last_accessed_at,
        duplicate_count=before.duplicate_count,
    )


def _emptied(document: Document) -> Document:
    """Return the record of a forgotten document, which keeps its path and its times."""
    return Document(
        document.collection,
        document.path,
        title="",
        hash=_NOTHING,
        source_hash="",
        authored_at=document.authored_at,
        modified_at=document.modified_at,
        indexed_at=document.indexed_at,
        content_type=document.content_type,
        confidence=document.confidence,
        quality_score=document.quality_score,
        inactive=InactiveReason.FORGOTTEN,
        id=document.id,
    )


def _span(document_id: int, fragment: Fragment) -> Span:
    return Span(
        FragmentKey(document_id, fragment.seq),
        fragment.kind,
        fragment.start_line,
        fragment.end_line,
        fragment.start,
        fragment.end,
        fragment.label,
        fragment.heading,
    )


def _place(document: Document) -> tuple[str, str]:
    return document.collection, document.path
