"""Edges of the graph as the traversals use them: the steps that can be taken from a set of documents."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol

from clawmem.domain.retrieval.intent import Intent
from clawmem.ports.knowledge import EVERY_KIND, Relation, RelationKind

# "Is similar to" and "mentions the same entity" are symmetric, whichever document they were stored from.
BOTH_WAYS = frozenset({RelationKind.SEMANTIC, RelationKind.ENTITY})
# The published algorithm follows causal relations only from cause to effect. A question that asks for the reason
# describes the effect, and its answer is the cause, so these questions also follow them backwards.
BOTH_WAYS_OF_WHY = BOTH_WAYS | {RelationKind.CAUSAL}


class Edges(Protocol):
    """Source of relations: a `RelationStore` with fixed limits, or a table in a test."""

    def outbound(self, nodes: Collection[int], kinds: Collection[RelationKind]) -> Sequence[Relation]:
        """Return the strongest relations of *kinds* that begin at each of *nodes*, in any order."""

    def inbound(self, nodes: Collection[int], kinds: Collection[RelationKind]) -> Sequence[Relation]:
        """Return the strongest relations of *kinds* that end at each of *nodes*, in any order."""


class Step(NamedTuple):
    """A relation in the direction in which it is traversed."""

    start: int
    end: int
    kind: RelationKind
    weight: float


def steps(
    edges: Edges, nodes: Collection[int], intent: Intent, kinds: Collection[RelationKind] = EVERY_KIND
) -> list[Step]:
    """
    Return every step from *nodes* that a question with *intent* may take.

    The steps follow relations of *kinds* forwards, and backwards if the kind counts as symmetric for the intent.
    Relations from a document to itself are skipped. If two relations of one kind join the same documents (one
    stored from either end), only the heavier one is returned. The result does not depend on the order of the
    relations.
    """
    starts = frozenset(nodes)
    back = (BOTH_WAYS_OF_WHY if intent is Intent.WHY else BOTH_WAYS).intersection(kinds)
    along = (Step(r.source, r.target, r.kind, r.weight) for r in edges.outbound(starts, kinds))
    against = (
        (Step(r.target, r.source, r.kind, r.weight) for r in edges.inbound(starts, back)) if back else ()
    )
    heaviest: dict[tuple[int, int, RelationKind], Step] = {}
    for step in (*along, *against):
        place = step[:3]
        if step.start != step.end and (place not in heaviest or step.weight > heaviest[place].weight):
            heaviest[place] = step
    return [heaviest[place] for place in sorted(heaviest)]
