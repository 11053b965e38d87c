"""Documents that a request allows: by type, by tags, and by conditions on properties."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from difflib import get_close_matches

from clawmem.domain.documents.properties import (
    bare_tag,
    property_key,
    read_filter,
    tags_below,
    with_tags_above,
)
from clawmem.ports.documents import DocumentStore, PropertyStore
from clawmem.ports.errors import NotFound
from clawmem.ports.records import Scope


def documents_with(
    documents: DocumentStore,
    properties: PropertyStore,
    scope: Scope,
    tags: Collection[str],
    where: Collection[str],
    content_types: Collection[str] = (),
) -> frozenset[int]:
    """Return the documents in *scope* with one of the types, and with all tags and properties."""
    known = documents.tags() if tags else {}
    below = [tags_below(name, known) for name in tags]
    found = documents.ids(scope, content_types=content_types, tags=below)
    return found & properties.having(map(read_filter, where)) if where else found


def check_filters(
    documents: DocumentStore, properties: PropertyStore, tags: Collection[str], conditions: Collection[str]
) -> None:
    """
    Refuse tags and properties that no note has, and values that no note has but that resemble one.

    Any other value, such as a status that no note has today, is a condition that nothing meets.

    Raises:
        InvalidInput: A condition names no property.
        NotFound: No note has one of the tags, a property that a condition names, or a value that may be misspelt.
    """
    known_tags = documents.tags() if tags else {}
    for name in tags:
        if not tags_below(name, known_tags):
            above = (part for tag in known_tags for part in with_tags_above(tag))
            raise NotFound("tag", name, suggestions=_near(bare_tag(name), above))
    known = properties.names() if conditions else {}
    for condition in map(read_filter, conditions):
        name, key = condition.name, condition.key
        if name.casefold() not in {known_name.casefold() for known_name in known}:
            raise NotFound("property", name, suggestions=_near(name, known))
        by_key = {property_key(value): value for value in properties.values(name)} if key else {}
        if not key or key in by_key or any(map(str.isdigit, key)):  # all dates and numbers resemble others
            continue
        if near := get_close_matches(key, by_key):
            raise NotFound(f"value of {name}", key, suggestions=[by_key[value] for value in near])


def _near(name: str, known: Iterable[str]) -> list[str]:
    by_key = {value.casefold(): value for value in known}
    return [by_key[key] for key in get_close_matches(name.casefold(), by_key)]
