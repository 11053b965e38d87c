"""Lookup of an entity by name."""

from __future__ import annotations

from difflib import get_close_matches

from clawmem.domain.knowledge.entities import ids_of, name_words
from clawmem.ports.entities import Entity, EntityStore
from clawmem.ports.errors import Ambiguous, NotFound

SUGGESTIONS = 5
LOOKED_AT = 50  # entities per word that are compared with an unknown name
BEGINNING = 3  # letters at the start of a word, where typing errors are rarest


def entity_named(entities: EntityStore, name: str) -> Entity:
    """
    Return the entity with the id *name*, with that name, or with a name whose words begin so.

    Raises:
        Ambiguous: several entities match; the error lists their ids.
        NotFound: no entity matches; the error lists similar names.
    """
    known = entities.known([name, *ids_of(name)])
    found = [known[name]] if name in known else list(known.values()) or entities.search(name, SUGGESTIONS)
    if not found:
        raise NotFound("entity", name, suggestions=_called_nearly_so(entities, name))
    if len(found) > 1:
        raise Ambiguous(name, sorted(one.id for one in found))
    return found[0]


def _called_nearly_so(entities: EntityStore, name: str) -> list[str]:
    beginnings = {word[:BEGINNING] for word in name_words(name)}
    near = {one.name for text in sorted(beginnings) for one in entities.search(text, LOOKED_AT)}
    return get_close_matches(name, sorted(near), SUGGESTIONS)
