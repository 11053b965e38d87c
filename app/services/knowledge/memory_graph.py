"""The knowledge graph of the reference memory server, stored as one page per entity."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from clawmem.app.services.capture.memories import Memories
from clawmem.app.services.capture.session import without_secrets
from clawmem.app.services.indexing.publish import withdraw
from clawmem.app.services.knowledge.resolving import merge_concept
from clawmem.domain.capture.notes import COLLECTION
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.knowledge.entities import (
    CONCEPT,
    KINDS,
    entity_id,
    ids_of,
    is_generic,
    name_words,
    only_one,
)
from clawmem.domain.knowledge.entity_card import FOLDER, EntityCard, card_of, checked, page, path_of
from clawmem.ports.clock import Clock
from clawmem.ports.entities import Entity
from clawmem.ports.errors import NotFound
from clawmem.ports.records import Document, InactiveReason, Scope
from clawmem.ports.stores import LifecycleStores
from clawmem.ports.triples import Triple

CONTENT_TYPE = "note"
CONFIDENCE = 0.7
DAY = len("2026-03-31")


class MemoryGraph:
    """
    Entities with one page each. Triples and mentions are derived from the page.

    Methods that write are called inside `Vault.writing`.
    """

    def __init__(self, vault: LifecycleStores, clock: Clock) -> None:
        self._vault = vault
        self._memories = Memories(vault, clock)
        self._clock = clock

    def cards(self) -> list[EntityCard]:
        """Return all entities, sorted by name."""
        documents = self._vault.documents.latest(Scope(frozenset({COLLECTION})))
        pages = [one for one in documents if one.path.startswith(FOLDER)]
        return sorted(filter(None, map(self._card, pages)))

    def card(self, name: str) -> EntityCard | None:
        """Return the entity with exactly this name."""
        document = self._vault.documents.at(COLLECTION, path_of(name))
        return self._card(document) if document and document.inactive is None else None

    def create(self, cards: Iterable[EntityCard]) -> list[EntityCard]:
        """Add entities and return the added ones; existing entities are not changed."""
        new = {card.name: checked(card) for card in cards if self.card(card.name) is None}
        return [self._save(card) for card in new.values()]

    def observe(self, name: str, texts: Sequence[str]) -> list[str]:
        """
        Add observations and return the new ones.

        Raises:
            NotFound: There is no such entity.
        """
        card = self._existing(name)
        wanted = checked(card._replace(observations=tuple(map(without_secrets, texts)))).observations
        new = [text for text in dict.fromkeys(wanted) if text not in card.observations]
        if new:
            self._save(card._replace(observations=(*card.observations, *new)))
        return new

    def relate(self, name: str, relation: tuple[str, str]) -> bool:
        """
        Add a relation to another entity; return whether it is new.

        Raises:
            NotFound: One of the two entities does not exist.
        """
        card, _ = self._existing(name), self._existing(relation[1])
        if relation in card.relations:
            return False
        self._save(checked(card._replace(relations=(*card.relations, relation))))
        return True

    def forget_observations(self, name: str, texts: Sequence[str]) -> None:
        """Delete observations of an entity, if it exists."""
        if card := self.card(name):
            self._save(card._replace(observations=tuple(t for t in card.observations if t not in texts)))

    def unrelate(self, name: str, relation: tuple[str, str]) -> None:
        """Delete a relation, if it exists."""
        if card := self.card(name):
            self._save(card._replace(relations=tuple(one for one in card.relations if one != relation)))

    def delete(self, names: Sequence[str]) -> None:
        """Delete entities, and the relations from and to them."""
        for card in self.cards():
            kept = tuple(one for one in card.relations if one[1] not in names)
            if card.name in names:
                self._withdraw(card.name)
            elif kept != card.relations:
                self._save(card._replace(relations=kept))

    def _existing(self, name: str) -> EntityCard:
        if card := self.card(name):
            return card
        raise NotFound("entity", name)

    def _card(self, document: Document) -> EntityCard | None:
        body = self._vault.documents.body(document.id)
        return card_of(body) if body else None

    def _withdraw(self, name: str) -> None:
        document = self._vault.documents.at(COLLECTION, path_of(name))
        if document:
            self._vault.triples.forget(document.id)
            self._vault.entities.set_mentions(document.id, [])
            withdraw(self._vault, [document.id], InactiveReason.REMOVED)

    def _save(self, card: EntityCard) -> EntityCard:
        kept = card._replace(observations=tuple(map(without_secrets, card.observations)))
        document_id = self._memories.write(
            path_of(card.name), card.name, page(kept), CONTENT_TYPE, CONFIDENCE
        )
        self._vault.triples.forget(document_id)
        if name_words(card.name):  # a name without words cannot be named in a question
            self._derive(kept, document_id)
        return kept

    def _derive(self, card: EntityCard, document_id: int) -> None:
        subject = self._entity_named(card.name, card.type)
        day = iso_utc(self._clock.now_ms())[:DAY]
        triples = [
            Triple(
                subject, kind, self._object(to), document_id, valid_from=day, said=f"{card.name} {kind} {to}"
            )
            for kind, to in card.relations
        ]
        named = [one.object for one in triples if isinstance(one.object, Entity)]
        mentioned = [subject, *(one for one in named if one != subject)]
        for one in mentioned:
            if not is_generic(one.kind):
                merge_concept(self._vault.entities, one)
        self._vault.entities.set_mentions(document_id, mentioned)
        self._vault.triples.add(triples)

    def _object(self, name: str) -> Entity | str:
        card = self.card(name)
        return self._entity_named(name, card.type if card else CONCEPT) if name_words(name) else name

    def _entity_named(self, name: str, kind: str) -> Entity:
        """Return the entity with this name and kind; for an unknown kind, the only entity with the name."""
        entity = _entity(name, kind)
        if not is_generic(entity.kind):
            return entity
        return only_one(name, self._vault.entities.known(ids_of(name))) or entity


def _entity(name: str, kind: str) -> Entity:
    known = kind.lower() if kind.lower() in KINDS else CONCEPT
    return Entity("", name, known)._replace(id=entity_id(name, known))
