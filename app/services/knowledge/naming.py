"""The entity that somebody means by a name."""

from __future__ import annotations

from difflib import get_close_matches

from clawmem.domain.knowledge.entities import ids_of, name_words
from clawmem.ports.entities import Entity, EntityStore
from clawmem.ports.errors import Ambiguous, NotFound

SUGGESTIONS = 5
LOOKED_AT = 50  # entities for the beginning of each word of a name that nobody has
BEGINNING = 3  # letters, which a slip of the pen leaves alone most often


def entity_named(entities: EntityStore, name: str) -> Entity:
    """
    By its id, by its name, then by the beginnings of the words of its name.

    Raises:
        Ambiguous: several are called so, or begin so; their ids are the way out.
        NotFound: nothing is called so; what is called nearly so is the way out.
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
