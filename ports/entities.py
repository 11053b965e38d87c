from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from clawmem.ports.named_tuple import NamedTuple
from clawmem.ports.records import EVERYTHING, Scope

MOST_COMPANIONS = 30  # entities that are followed from where a search stands
DOCUMENTS_EACH = 10  # and documents that are taken from each of them


class Entity(NamedTuple):
    """
    Somebody or something that documents speak of.

    ``id`` is ``<vault>:<kind>:<slug>``; ``kind`` one of person, project, service, tool, concept, org,
    location. ``mention_count`` says how many served documents mention it; it is counted, never written.
    """

    id: str
    name: str
    kind: str
    mention_count: int = 0


class Neighbour(NamedTuple):
    """A document, and how many served documents hold the pair of entities that led to it."""

    document_id: int
    together: int


class EntityStore(Protocol):
    """
    Which documents speak of what.

    Two entities occur together as often as there are served documents that mention both. Every count and
    every answer knows served documents only: one that is deactivated takes its mentions along, one that comes
    back brings them back.
    """

    def set_mentions(self, document_id: int, entities: Sequence[Entity]) -> None:
        """
        What a document mentions from now on, each entity once; what it mentioned before is no longer said.

        An entity that is known keeps its name and kind.

        Raises:
            InvalidInput: no document has that id.
        """
        ...

    def forget(self, document_id: int) -> int:
        """
        A document mentions nothing any more; how much it mentioned. Served or not.

        What nothing else mentions or says something of is no longer known by name.
        """
        ...

    def merge(self, entity_id: str, into: Entity) -> bool:
        """
        Replace an entity by *into* in every mention and triple, of served and other documents; whether it was known.

        Afterwards it is unknown, and *into* is known. A triple of a document that
        names either is kept once; a triple that would relate *into* to itself is dropped. Merging an entity into itself changes nothing and returns False.
        """
        ...

    def mentions(self, document_id: int) -> list[Entity]:
        """What a served document mentions, by id."""
        ...

    def mentioning(self, entity_id: str, limit: int) -> list[int]:
        """Served documents that mention it, those with the highest ids first; a limit below 1 gives none."""
        ...

    def known(self, ids: Iterable[str]) -> dict[str, Entity]:
        """Those of these ids that exist, whether or not a served document mentions them, by id."""
        ...

    def search(self, text: str, limit: int) -> list[Entity]:
        """
        Entities in whose name each word of *text* begins some word, most mentioned first, then by id.

        Words are runs of letters and digits, without case and Latin diacritics; a text without any finds
        nothing, and so does a limit below 1. What no served document mentions is not found.
        """
        ...

    def neighbours(
        self, document_ids: Iterable[int], limit: int, scope: Scope = EVERYTHING
    ) -> list[Neighbour]:
        """
        Documents that speak of what occurs together with the entities of these documents, best first.

        Followed are the `MOST_COMPANIONS` entities that occur most often together with any single one of
        those entities (equal ones by id); of each the `DOCUMENTS_EACH` documents in *scope* with the highest
        ids. A document has the count of the most frequent pair that led to it; equal ones are in order of
        their ids. The documents themselves are never among them; a limit below 1 gives none.
        """
        ...
