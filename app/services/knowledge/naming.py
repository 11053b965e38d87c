"""The entity that somebody means by a name."""

from __future__ import annotations

from clawmem.domain.knowledge.entities import ids_of
from clawmem.ports.entities import Entity, EntityStore
from clawmem.ports.errors import Ambiguous, NotFound

SUGGESTIONS = 5


def entity_named(entities: EntityStore, name: str) -> Entity:
    """
    By its id, by its name, then by the beginnings of the words of its name.

    Raises:
        Ambiguous: several are called so, or begin so; their ids are the way out.
        NotFound: nothing is called anything like it.
    """
    known = entities.known([name, *ids_of(name)])
    found = [known[name]] if name in known else list(known.values()) or entities.search(name, SUGGESTIONS)
    if not found:
        raise NotFound("entity", name)
    if len(found) > 1:
        raise Ambiguous(name, sorted(one.id for one in found))
    return found[0]
