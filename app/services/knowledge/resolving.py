"""From names to the entities that they mean."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType

from clawmem.domain.knowledge.entities import CONCEPT, entity_id, ids_of, name_words
from clawmem.domain.knowledge.names import PERSON, Name, full_name, is_same, similarity
from clawmem.ports.entities import Entity, EntityStore

LOOKED_AT = 20  # entities for each word of a name
SEVERAL = 2  # documents; one alone may have written a common word with a capital
BEGINNING = 4  # letters of a word that another way of writing it shares


class Resolve:
    """
    A name means the entity that is called so, or much alike; one that nobody has is new.

    A first name means whoever alone has it, of those whom the vault knows and of *people*.

    Args:
        people: Who is listed in the documents at hand, by their full names.
        named: In how many of those each name stands where it can be nothing else.
    """

    def __init__(
        self,
        entities: EntityStore,
        people: Collection[str] = (),
        named: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        self._entities = entities
        self._people = people
        self._named = named

    def all(self, names: Iterable[Name]) -> list[Entity]:
        """The entities that *names* mean, each once."""
        return list({found.id: found for found in map(self, names)}.values())

    def __call__(self, name: Name) -> Entity:
        """The entity that one name means."""
        known = self._near(name.name)
        if name.kind in (CONCEPT, PERSON):
            persons = {one.name for one in known if one.kind == PERSON} | set(self._people)
            if person := full_name(name.name, persons):
                name = Name(person, PERSON)
        alike = [one for one in known if is_same(name, Name(one.name, one.kind))]
        if alike:
            return max(alike, key=lambda one: (similarity(one.name, name.name), one.mention_count, one.id))
        return Entity(entity_id(name.name, name.kind), name.name, name.kind)

    def spoken_of(self, name: str) -> Entity:
        """What a statement means by a name: the one thing that has it; a concept, where things of two kinds have."""
        having = self._entities.known(ids_of(name))
        if len(having) > 1:
            return Entity(entity_id(name, CONCEPT), name, CONCEPT)
        return next(iter(having.values()), None) or self(Name(name))

    def is_known(self, name: str) -> bool:
        """Whether it is a name elsewhere: in several documents at hand or of the vault, or somebody's."""
        if self._named.get(name, 0) >= SEVERAL or full_name(name, self._people):
            return True
        known = self._entities.known(ids_of(name)).values()
        if any(one.mention_count >= SEVERAL for one in known):
            return True
        found = self._entities.search(name, LOOKED_AT)
        return full_name(name, [one.name for one in found if one.kind == PERSON]) is not None

    def _near(self, name: str) -> list[Entity]:
        beginnings = {word[:BEGINNING] for word in name_words(name)}
        found = (one for text in sorted(beginnings) for one in self._entities.search(text, LOOKED_AT))
        return list({one.id: one for one in found}.values())
