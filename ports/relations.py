from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Protocol

from clawmem.ports.errors import InvalidInput
from clawmem.ports.named_tuple import NamedTuple
from clawmem.ports.origin import Origin
from clawmem.ports.records import EVERYTHING, Scope


class RelationKind(StrEnum):
    """What a relation says of its two documents; read "source … target"."""

    SEMANTIC = "semantic"  # is about the same as
    CAUSAL = "causal"  # caused
    TEMPORAL = "temporal"  # came before
    ENTITY = "entity"  # speaks of the same thing as
    SUPPORTING = "supporting"  # speaks for
    CONTRADICTS = "contradicts"  # speaks against
    USAGE = "usage"  # was used together with


EVERY_KIND = frozenset(RelationKind)


class Relation(NamedTuple):
    """
    An edge from one document to another, by their ids. There is one of a kind from the one to the other.

    ``weight`` lies in (0, 1]. ``origin`` names who wrote it, so that one writer can renew its own and leave
    the others'. ``metadata`` is whatever JSON can hold: a causal relation says its ``reasoning`` there.
    ``trust`` is the less trusted origin of its two documents as they are now: stores answer it and never keep it.
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
    Refuse what no store may hold.

    Raises:
        InvalidInput: it leads from a document to itself, or its weight is not in (0, 1].
    """
    if relation.source == relation.target:
        raise InvalidInput("INVALID_INPUT", f"Document {relation.source} cannot be related to itself.")
    if not 0.0 < relation.weight <= 1.0:
        raise InvalidInput(
            "OUT_OF_BOUNDS", f"A relation cannot weigh {relation.weight}; choose more than 0, at most 1."
        )


class RelationStore(Protocol):
    """
    The graph between documents.

    A relation is answered while both of its documents are served. One that is deactivated takes its relations
    out of sight and brings them back when it comes back; nothing else forgets them but `forget`.
    What is answered carries the origin of the less trusted of its two documents, whatever was given.
    """

    def put(self, relations: Iterable[Relation]) -> int:
        """
        Add relations, all or none; one that is there (source, target, kind) becomes what is given.

        Of several for one place the last counts. What stands there already, ``created_at`` apart, is left as
        it is: repeating a call changes nothing.

        Returns:
            How many were added or became another.

        Raises:
            InvalidInput: a document that the vault does not know, one related to itself, or a weight that is
                not in (0, 1]; nothing was stored.
        """
        ...

    def renew(
        self, kind: RelationKind, origin: str, sources: Iterable[int], relations: Iterable[Relation]
    ) -> int:
        """
        Let *relations* be all of this kind and origin that go out from *sources*, in one step.

        What was there and is not among them goes; what another origin has written stands, and stands in the
        way of a new one at its place. *relations* are all of this kind and origin and begin at one of *sources*.

        Returns:
            How many were added, became another, or went.

        Raises:
            InvalidInput: as `put`.
        """
        ...

    def outbound(
        self,
        document_ids: Iterable[int],
        kinds: Collection[RelationKind] = EVERY_KIND,
        *,
        limit: int,
        scope: Scope = EVERYTHING,
    ) -> list[Relation]:
        """
        Of each of these documents and each kind the *limit* strongest relations that begin at it.

        The other end lies in *scope*, which is honoured before the cut. Equal weights are cut by the other
        end's id, smaller ones first. Ordered by source, kind (its name), weight descending, target; a limit
        below 1 gives none. What it costs depends on the limit, not on how many relations a document has, as
        long as most of them can be seen.
        """
        ...

    def inbound(
        self,
        document_ids: Iterable[int],
        kinds: Collection[RelationKind] = EVERY_KIND,
        *,
        limit: int,
        scope: Scope = EVERYTHING,
    ) -> list[Relation]:
        """The same of the relations that end at these documents; ordered by target, kind, weight, source."""
        ...

    def forget(self, document_id: int) -> int:
        """Delete every relation from and to a document, served or not, with what it says; how many went."""
        ...

    def counts(self) -> dict[RelationKind, int]:
        """How many relations are answered, by kind; a kind without any is left out."""
        ...
