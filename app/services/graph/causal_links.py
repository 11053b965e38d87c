"""Causes and effects of a document."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from clawmem.domain.graph.causal import DEPTH, CausalLink, Direction, causal_links
from clawmem.ports.origin import Origin
from clawmem.ports.records import Document
from clawmem.ports.relations import Relation, RelationKind
from clawmem.ports.vault import Vault

RELATIONS = 100  # heaviest relations per document and direction


@dataclass(frozen=True, slots=True)
class CausalStep:
    """
    A document in a causal chain: its distance from the start, the direction, and the reasoning for the step to it.

    ``origin`` is the less trusted origin of the two documents of the step.
    """

    document: Document
    depth: int
    direction: Direction
    weight: float
    reasoning: str
    origin: Origin


class CausalLinks:
    """Chains of causal relations, between served documents."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault

    def __call__(
        self, document: Document, direction: Direction = Direction.BOTH, depth: int = DEPTH
    ) -> list[CausalStep]:
        """See `clawmem.domain.graph.causal.causal_links`."""
        links = causal_links(document.id, self, direction, depth)
        documents = self._vault.documents.many(link.document_id for link in links)
        return [_step(documents[link.document_id], link) for link in links]

    def outbound(self, nodes: Collection[int], kinds: Collection[RelationKind]) -> Sequence[Relation]:
        """Return the heaviest relations to effects."""
        return self._vault.relations.outbound(nodes, kinds, limit=RELATIONS)

    def inbound(self, nodes: Collection[int], kinds: Collection[RelationKind]) -> Sequence[Relation]:
        """Return the heaviest relations to causes."""
        return self._vault.relations.inbound(nodes, kinds, limit=RELATIONS)


def _step(document: Document, link: CausalLink) -> CausalStep:
    reasoning = str(link.relation.metadata.get("reasoning", ""))
    return CausalStep(
        document, link.depth, link.direction, link.relation.weight, reasoning, link.relation.trust
    )
