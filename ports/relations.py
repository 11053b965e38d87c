from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from clawmem.ports.errors import InvalidInput
from clawmem.ports.origin import Origin
from clawmem.ports.records import EVERYTHING, Scope


class RelationKind(StrEnum):
    """Kind of a relation, read as "source … target"."""

    SEMANTIC = "semantic"  # is about the same as
    CAUSAL = "causal"  # caused
    TEMPORAL = "temporal"  # came before
    ENTITY = "entity"  # mentions the same entity as
    SUPPORTING = "supporting"  # is evidence for
    CONTRADICTS = "contradicts"  # is evidence against
    USAGE = "usage"  # was used together with
    LINKS_TO = "links_to"  # contains a link to


EVERY_KIND = frozenset(RelationKind)


class Relation(NamedTuple):
    """
    Directed edge between two documents, by their ids. At most one edge per kind leads from one document to another.

    ``weight`` is in (0, 1]. ``origin`` names the writer, so that a writer can replace its own relations
    without touching those of others. ``metadata`` is any JSON object: a causal relation stores its
    ``reasoning`` there. ``trust`` is the less trusted of the present origins of the two documents: stores
    compute it and never persist it.
    """

    source: int
    target: int
    kind: RelationKind
    weight: float = 1.0
    origin: str = ""
    created_at: str = ""
    metadata: Mapping[str, Any] = MappingProxyType({})
    trust: Origin = Origin.USER


def check_relation(relation: Relation) -> None:
    """
    Raise an error if a store must not accept *relation*.

    Raises:
        InvalidInput: source and target are the same document, or the weight is not in (0, 1].
    """
    if relation.source == relation.target:
        raise InvalidInput("INVALID_INPUT", f"Document {relation.source} cannot be related to itself.")
    if not 0.0 < relation.weight <= 1.0:
        raise InvalidInput(
            "OUT_OF_BOUNDS",
            f"Invalid relation weight {relation.weight}; choose a value above 0 and at most 1.",
        )


class RelationStore(Protocol):
    """
    Store of the graph between documents.

    A relation is returned while both of its documents are served. Deactivating a document hides its
    relations, and reactivating it restores them; only `forget` deletes them. ``trust`` of a returned relation
    is always computed from its two documents, regardless of the stored value.
    """

    def put(self, relations: Iterable[Relation]) -> int:
        """
        Add relations, all or none; an existing one with the same source, target and kind is replaced.

        If several have the same source, target and kind, the last one wins. A relation that differs from the
        existing one in ``created_at`` only is not written: repeating a call changes nothing.

        Returns:
            The number of relations added or changed.

        Raises:
            InvalidInput: a document is unknown or related to itself, or a weight is not in (0, 1]; nothing
                was stored.
        """

    def renew(
        self, kind: RelationKind, origin: str, sources: Iterable[int], relations: Iterable[Relation]
    ) -> int:
        """
        Replace all relations of this kind and origin that start at *sources* by *relations*, in one step.

        Former relations that are not among *relations* are deleted. A relation written by another origin is
        retained and prevents a new one with the same source, target and kind. All of *relations* must be of
        this kind and origin and start at one of *sources*.

        Returns:
            The number of relations added, changed or deleted.

        Raises:
            InvalidInput: as for `put`.
        """

    def outbound(
        self,
        document_ids: Iterable[int],
        kinds: Collection[RelationKind] = EVERY_KIND,
        *,
        limit: int,
        scope: Scope = EVERYTHING,
    ) -> list[Relation]:
        """
        Return the *limit* strongest relations that start at each of these documents, for each kind.

        The targets are in *scope*, which is applied before the limit. The limit breaks ties of weight by the
        target's id, lowest first. Ordered by source, kind (its name), descending weight, target; a limit
        below 1 returns none. The cost depends on the limit and not on the number of a document's relations,
        as long as most of them are in scope.
        """

    def inbound(
        self,
        document_ids: Iterable[int],
        kinds: Collection[RelationKind] = EVERY_KIND,
        *,
        limit: int,
        scope: Scope = EVERYTHING,
    ) -> list[Relation]:
        """
        Return the strongest relations that end at these documents; ordered by target, kind, weight, source.

        Otherwise like `outbound`.
        """

    def forget(self, document_id: int) -> int:
        """
        Delete every relation from and to a document, served or not, with its metadata.

        Returns:
            The number of relations deleted.
        """

    def counts(self) -> dict[RelationKind, int]:
        """Return the number of visible relations by kind; kinds without any are omitted."""
