"""Reading of a document's entities and facts, and their resolution to known entities."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from clawmem.domain.documents.address import OWN_COLLECTION
from clawmem.domain.knowledge.entities import CONCEPT, entity_id, ids_of, is_generic, name_words, only_one
from clawmem.domain.knowledge.names import PERSON, Name, full_name, is_same, people_of
from clawmem.domain.security.redaction import redact
from clawmem.domain.text.likeness import edit_similarity
from clawmem.ports.documents import DocumentStore
from clawmem.ports.indexes import EmbeddingStore
from clawmem.ports.knowledge import Entity, EntityStore
from clawmem.ports.records import Document, EmbedState, FragmentKind

_CARDS = "entities/"  # pages of the own collection that declare their mentions


@dataclass(frozen=True, slots=True)
class Reading:
    """Input of an enrichment: a document with its redacted title and body."""

    document: Document
    title: str
    body: str
    people: tuple[str, ...]

    @property
    def has_own_mentions(self) -> bool:
        """Whether the document declares its mentions: a page about one entity."""
        return self.has_own_triples and self.document.path.startswith(_CARDS)

    @property
    def has_own_triples(self) -> bool:
        """Whether its facts were stored when the document was captured."""
        return self.document.collection == OWN_COLLECTION


def read(documents: DocumentStore, embeddings: EmbeddingStore, document_id: int) -> Reading | None:
    """Return a document that can be enriched now; ``None`` if it is deleted or waits for vectors."""
    document = documents.get(document_id)
    if document is None or document.inactive or waits_for_vectors(embeddings, document):
        return None
    body = documents.body(document_id) or ""
    listed = [
        fragment
        for fragment in documents.fragments(document_id)
        if fragment.kind is FragmentKind.FRONT_MATTER
    ]
    people = people_of({fragment.label: fragment.text.partition(": ")[2] for fragment in listed})
    return Reading(document, redact(document.title), redact(body), tuple(people))


def waits_for_vectors(embeddings: EmbeddingStore, document: Document) -> bool:
    """Whether the vectors of a document are pending: links need them. False if the vault has no vectors at all."""
    return document.embed_state is EmbedState.PENDING and embeddings.fingerprint() is not None


LOOKED_AT = 20  # candidate entities per word of a name
SEVERAL = 2  # documents; a single one may have capitalized a common word
BEGINNING = 4  # letters at the start of a word that spelling variants share


@dataclass(frozen=True, slots=True)
class Resolve:
    """
    Resolves a name to the entity with the same or a similar name; an unknown name becomes a new entity.

    Among entities of one name a concept yields to a specific kind; two specific kinds stay separate. A first name
    resolves to a person if exactly one known person or one of *people* has it.

    Args:
        people: Full names of the people that the document lists.
    """

    entities: EntityStore
    people: Collection[str] = ()

    def all(self, names: Iterable[Name]) -> list[Entity]:
        """
        Return the distinct entities that the *names* of one document mean.

        Names of a specific kind are resolved first: the same name without a kind then means the same entity.
        """
        entities: dict[str, Entity] = {}
        for name in sorted(names, key=lambda name: is_generic(name.kind)):
            entity = self(name, entities)
            entities.setdefault(entity.id, entity)
        return list(entities.values())

    def __call__(self, name: Name, mentioned: Mapping[str, Entity] = MappingProxyType({})) -> Entity:
        """
        Return the entity that one name means.

        Among entities of the same name a specific kind precedes a concept. A name of a specific kind never resolves
        to a concept, but creates an entity of that kind.

        Args:
            mentioned: Entities by id that the same document mentions, stored or not.
        """
        beginnings = sorted({word[:BEGINNING] for word in name_words(name.name)})
        near = [entity for text in beginnings for entity in self.entities.search(text, LOOKED_AT)]
        if name.kind in (CONCEPT, PERSON):
            persons = {entity.name for entity in near if entity.kind == PERSON} | set(self.people)
            if person := full_name(name.name, persons):
                name = Name(person, PERSON)
        same = self._of_name(name.name, mentioned)
        if is_generic(name.kind) and (only := only_one(name.name, same)):
            return only
        candidates = {entity.id: entity for entity in (*same.values(), *near)}.values()
        alike = [entity for entity in candidates if is_same(name, Name(entity.name, entity.kind))]
        if not alike:
            return Entity(entity_id(name.name, name.kind), name.name, name.kind)
        best = max(
            alike,
            key=lambda entity: (
                edit_similarity(entity.name, name.name),
                not is_generic(entity.kind),
                entity.mention_count,
                entity.id,
            ),
        )
        if is_generic(best.kind) and not is_generic(name.kind):
            return Entity(entity_id(best.name, name.kind), best.name, name.kind)
        return best

    def entity_named(self, name: str) -> Entity:
        """Return the entity that a statement names: the only one of that name, or a concept if kinds conflict."""
        same = self._of_name(name)
        if only := only_one(name, same):
            return only
        return Entity(entity_id(name, CONCEPT), name, CONCEPT) if same else self(Name(name))

    def is_known(self, name: str) -> bool:
        """Whether *name* is an established name: in several documents of the vault, or of a person."""
        known = self.entities.known(ids_of(name)).values()
        if full_name(name, self.people) or any(entity.mention_count >= SEVERAL for entity in known):
            return True
        persons = [entity.name for entity in self.entities.search(name, LOOKED_AT) if entity.kind == PERSON]
        return full_name(name, persons) is not None

    def _of_name(
        self, name: str, mentioned: Mapping[str, Entity] = MappingProxyType({})
    ) -> dict[str, Entity]:
        """Return the entities whose name has the same words, by id, whether or not a document mentions them."""
        ids = ids_of(name)
        return self.entities.known(ids) | {text: mentioned[text] for text in ids if text in mentioned}


def merge_concept(entities: EntityStore, entity: Entity) -> None:
    """
    Merge the concept of the same name into *entity*, unless another specific kind has that name.

    To be called inside `Transactions.writing`.
    """
    concept = entity_id(entity.name, CONCEPT)
    known = entities.known(ids_of(entity.name))
    if concept in known and all(text in (concept, entity.id) for text in known):
        entities.merge(concept, entity)
