"""Reading of a document's entities and facts, and their resolution to known entities."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from clawmem.domain.documents.address import OWN_COLLECTION
from clawmem.domain.knowledge.entities import CONCEPT, entity_id, ids_of, is_generic, name_words, only_one
from clawmem.domain.knowledge.names import PERSON, Name, full_name, is_same, people_of
from clawmem.domain.security.redaction import redact
from clawmem.domain.text.likeness import edit_similarity
from clawmem.ports.documents import DocumentStore
from clawmem.ports.indexes import EmbeddingStore
from clawmem.ports.knowledge import Entity, EntityStore
from clawmem.ports.records import Document, EmbedState, FragmentKind

LOOKED_AT = 20  # candidate entities per word of a name
SEVERAL = 2  # documents; a single one may have capitalized a common word
BEGINNING = 4  # letters at the start of a word that spelling variants share
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
    fields = {
        fragment.label: fragment.text.partition(": ")[2]
        for fragment in documents.fragments(document_id)
        if fragment.kind is FragmentKind.FRONT_MATTER
    }
    body = documents.body(document_id) or ""
    return Reading(document, redact(document.title), redact(body), tuple(people_of(fields)))


def waits_for_vectors(embeddings: EmbeddingStore, document: Document) -> bool:
    """Whether the vectors of a document are pending: links need them. False if the vault has no vectors at all."""
    return document.embed_state is EmbedState.PENDING and embeddings.fingerprint() is not None


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

    def all(self, names: Collection[Name]) -> list[Entity]:
        """
        Return the distinct entities that the *names* of one document mean.

        A name without a kind means the same as that name with one.
        """
        specific = {name: tuple(name_words(name.name)) for name in names if not is_generic(name.kind)}
        others = [name for name in names if tuple(name_words(name.name)) not in specific.values()]
        entities = [self(name) for name in (*specific, *others)]
        return list({entity.id: entity for entity in reversed(entities)}.values())[::-1]

    def __call__(self, name: Name) -> Entity:
        """
        Return the entity that one name means.

        Among entities of the same name a specific kind precedes a concept. A name of a specific kind never resolves
        to a concept, but creates an entity of that kind.
        """
        beginnings = sorted({word[:BEGINNING] for word in name_words(name.name)})
        near = [entity for text in beginnings for entity in self.entities.search(text, LOOKED_AT)]
        if name.kind in (CONCEPT, PERSON):
            persons = {entity.name for entity in near if entity.kind == PERSON} | set(self.people)
            if person := full_name(name.name, persons):
                name = Name(person, PERSON)
        same = self.entities.known(ids_of(name.name))
        if is_generic(name.kind) and (only := only_one(name.name, same)):
            return only
        alike = [
            entity
            for entity in {entity.id: entity for entity in (*same.values(), *near)}.values()
            if is_same(name, Name(entity.name, entity.kind))
        ]
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
        same = self.entities.known(ids_of(name))
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


def merge_concept(entities: EntityStore, entity: Entity) -> None:
    """
    Merge the concept of the same name into *entity*, unless another specific kind has that name.

    To be called inside `Transactions.writing`.
    """
    concept = entity_id(entity.name, CONCEPT)
    known = entities.known(ids_of(entity.name))
    if concept in known and all(text in (concept, entity.id) for text in known):
        entities.merge(concept, entity)
