"""Listing of documents: their shortest unambiguous ids, pages of all, and those that a request allows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from difflib import get_close_matches

from clawmem.domain.documents.frontmatter import TYPES
from clawmem.domain.documents.identity import DOCID_LENGTH, docid
from clawmem.domain.documents.properties import (
    bare_tag,
    property_key,
    read_filter,
    tags_below,
    with_tags_above,
)
from clawmem.domain.security.origin import is_verified
from clawmem.domain.security.quoting import shown_title, without_orders
from clawmem.ports.documents import DocumentStore, PropertyStore
from clawmem.ports.errors import NotFound
from clawmem.ports.records import Candidate, Document, InactiveReason, Scope


def docids(store: DocumentStore, documents: Sequence[Document]) -> dict[int, str]:
    """Return the shortest unique prefix of each document's first hash, by document id."""
    prefixes = {document.first_hash[:DOCID_LENGTH] for document in documents}
    hashes = {prefix: {note.first_hash for note in store.by_docid(prefix)} for prefix in prefixes}
    return {
        document.id: docid(document.first_hash, hashes[document.first_hash[:DOCID_LENGTH]])
        for document in documents
    }


def candidates_of(store: DocumentStore, documents: Sequence[Document]) -> list[Candidate]:
    """Return *documents* as candidates, in their order."""
    names = docids(store, [note for note in documents if note.inactive is not InactiveReason.FORGOTTEN])
    return [
        Candidate(
            f"#{names[note.id]}" if note.id in names else "",
            note.display_path,
            without_orders(note.title, note.origin),
            str(note.inactive) if note.inactive else "",
            note.origin,
            is_verified(note.origin),
            shown_title(note),
        )
        for note in documents
    ]


PINNED = "pinned"  # a condition as on a property
AT_ONCE = 200  # ten thousand at once take 15 MB, and a transaction for each page takes well under 50 ms


def every_served(store: DocumentStore) -> Iterator[Document]:
    """Yield each served document by id; documents added during the iteration are included, deleted ones are not."""
    for page in pages(store):
        yield from page


def pages(store: DocumentStore) -> Iterator[Sequence[Document]]:
    """Yield the served documents by id, in pages of at most `AT_ONCE`."""
    last = 0
    while page := store.following(last, AT_ONCE):
        yield page
        last = page[-1].id


def documents_with(
    documents: DocumentStore,
    properties: PropertyStore,
    scope: Scope,
    tags: Collection[str],
    where: Collection[str],
    content_types: Collection[str] = (),
) -> frozenset[int]:
    """Return the documents in *scope* with one of the types, and with all tags and properties, or pinned or not."""
    known = documents.tags() if tags else {}
    below = [tags_below(name, known) for name in tags]
    allowed = documents.ids(scope, content_types=content_types, tags=below)
    filters = [read_filter(condition) for condition in where]
    for wanted in (wanted for wanted in filters if wanted.name.casefold() == PINNED):
        pinned = {note.id for note in documents.latest(scope) if note.is_pinned}
        is_wanted = (wanted.key != "false") is not wanted.is_negated
        allowed = allowed & pinned if is_wanted else allowed - pinned
    stated = [wanted for wanted in filters if wanted.name.casefold() != PINNED]
    return allowed & properties.having(stated) if stated else allowed


def check_filters(
    documents: DocumentStore,
    properties: PropertyStore,
    tags: Collection[str],
    conditions: Collection[str],
    content_types: Collection[str] = (),
) -> None:
    """
    Refuse tags and properties that no note has, values that are like those of a note, and types that are not known.

    Raises:
        InvalidInput: A condition names no property.
        NotFound: No note has one of the tags or types, or a property or value that a condition names.
    """
    for name in content_types:
        if name not in TYPES and not documents.ids(content_types=[name]):
            raise NotFound("content type", name, suggestions=_near(name, TYPES) or TYPES)
    known_tags = documents.tags() if tags else {}
    for name in tags:
        if not tags_below(name, known_tags):
            above = (part for tag in known_tags for part in with_tags_above(tag))
            raise NotFound("tag", name, suggestions=_near(bare_tag(name), above))
    known = {PINNED, *properties.names()} if conditions else ()
    for name, key, is_negated in map(read_filter, conditions):
        if name.casefold() not in map(str.casefold, known):
            raise NotFound("property", name, suggestions=_near(name, known))
        if key and not is_negated and not any(map(str.isdecimal, key)):  # a day may have no note
            values = properties.values(name)
            if key not in [*map(property_key, values)] and (near := _near(key, values)):
                raise NotFound(f"value of {name}", key, suggestions=near)


def _near(name: str, known: Iterable[str]) -> list[str]:
    by_key = {value.casefold(): value for value in known}
    return [by_key[key] for key in get_close_matches(name.casefold(), by_key)]
