from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from clawmem.ports.records import EVERYTHING, Scope

MOST_COMPANIONS = 30  # co-occurring entities that are followed
DOCUMENTS_EACH = 10  # documents taken from each of these entities


class Entity(NamedTuple):
    """
    Person or thing that documents mention.

    ``id`` is ``<vault>:<kind>:<slug>``; ``kind`` is one of person, project, service, tool, concept, org,
    location. ``mention_count`` is the number of served documents that mention the entity; it is computed,
    never stored.
    """

    id: str
    name: str
    kind: str
    mention_count: int = 0


class Neighbour(NamedTuple):
    """
    Document that is related through a pair of entities.

    ``together`` is the number of served documents that mention both entities of the pair.
    """

    document_id: int
    together: int


class EntityStore(Protocol):
    """
    Entities and the documents that mention them.

    Two entities co-occur once for each served document that mentions both. All counts and results consider
    served documents only: deactivating a document removes its mentions from them, reactivating it restores
    them.
    """

    def set_mentions(self, document_id: int, entities: Sequence[Entity]) -> None:
        """
        Replace the entities that a document mentions, each entity once.

        A known entity keeps its name and kind.

        Raises:
            InvalidInput: no document has that id.
        """

    def forget(self, document_id: int) -> int:
        """
        Delete the mentions of a document, served or not.

        An entity that no mention and no triple refers to any more is deleted as well.

        Returns:
            The number of mentions deleted.
        """

    def merge(self, entity_id: str, into: Entity) -> bool:
        """
        Replace an entity by *into* in every mention and triple of all documents, served or not.

        Afterwards the old entity is unknown and *into* is known. Triples of one document that become equal
        are stored once; a triple that would relate *into* to itself is dropped. Merging an entity into itself
        changes nothing.

        Returns:
            Whether the entity was known; False if it is merged into itself.
        """

    def mentions(self, document_id: int) -> list[Entity]:
        """Return the entities that a served document mentions, by id."""

    def mentioning(self, entity_id: str, limit: int) -> list[int]:
        """Return served documents that mention the entity, highest ids first; a limit below 1 returns none."""

    def known(self, ids: Iterable[str]) -> dict[str, Entity]:
        """Return the entities with these ids that exist, by id, whether or not a served document mentions them."""

    def search(self, text: str, limit: int) -> list[Entity]:
        """
        Return entities whose name has, for each word of *text*, a word that begins with it.

        Ordered by number of mentions, highest first, then by id. Words are runs of letters and digits,
        compared without case and Latin diacritics. The list is empty if *text* contains no word or the limit
        is below 1. Entities that no served document mentions are omitted.
        """

    def frequent(self, limit: int) -> list[Entity]:
        """
        Return the entities that served documents mention, ordered by number of mentions, highest first, then by id.
        """

    def neighbours(
        self, document_ids: Iterable[int], limit: int, scope: Scope = EVERYTHING
    ) -> list[Neighbour]:
        """
        Return documents that mention entities co-occurring with the entities of these documents, best first.

        The search follows the `MOST_COMPANIONS` entities that co-occur most often with any single entity of
        the given documents (ties by id), and takes from each the `DOCUMENTS_EACH` documents in *scope* with
        the highest ids. The score of a document is the count of its most frequent pair; ties are ordered by
        id. The given documents are never included; a limit below 1 returns none.
        """
