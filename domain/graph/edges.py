"""The graph as a walk sees it: steps that may be taken from where it stands."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple, Protocol

from clawmem.domain.retrieval.intent import Intent
from clawmem.ports.relations import EVERY_KIND, Relation, RelationKind

# "About the same" and "speaks of the same" hold both ways, whichever end they were written from.
BOTH_WAYS = frozenset({RelationKind.SEMANTIC, RelationKind.ENTITY})
# The published walk takes causal relations from cause to effect alone. A question for the reason is put in the
# words of the effect, and its answer is the cause: without the way back it could never be reached.
BOTH_WAYS_OF_WHY = BOTH_WAYS | {RelationKind.CAUSAL}


class Edges(Protocol):
    """Where relations come from: a `RelationStore` whose limits are chosen, or a table in a test."""

    def outbound(self, nodes: Collection[int], kinds: Collection[RelationKind]) -> Sequence[Relation]:
        """The strongest relations of these kinds that begin at each of *nodes*, in any order."""
        ...

    def inbound(self, nodes: Collection[int], kinds: Collection[RelationKind]) -> Sequence[Relation]:
        """The strongest relations of these kinds that end at each of *nodes*, in any order."""
        ...


class Step(NamedTuple):
    """A relation in the direction in which it is walked."""

    start: int
    end: int
    kind: RelationKind
    weight: float


def steps(
    edges: Edges, nodes: Collection[int], intent: Intent, kinds: Collection[RelationKind] = EVERY_KIND
) -> list[Step]:
    """
    Every step from *nodes* that a question of that *intent* may take: along relations of these *kinds*, and
    against those that hold both ways for it.

    A relation from a document to itself is no step. Of two between the same documents and of one kind (one
    written from either end) the heavier counts. In one order, whatever order they come in.
    """
    asked = frozenset(nodes)
    back = (BOTH_WAYS_OF_WHY if intent is Intent.WHY else BOTH_WAYS).intersection(kinds)
    along = (Step(r.source, r.target, r.kind, r.weight) for r in edges.outbound(asked, kinds))
    against = (Step(r.target, r.source, r.kind, r.weight) for r in edges.inbound(asked, back)) if back else ()
    heaviest: dict[tuple[int, int, RelationKind], Step] = {}
    for step in (*along, *against):
        place = step[:3]
        if step.start != step.end and (place not in heaviest or step.weight > heaviest[place].weight):
            heaviest[place] = step
    return [heaviest[place] for place in sorted(heaviest)]


def strongest(taken: Iterable[Step], most: int) -> list[Step]:
    """The *most* heaviest steps; of equal ones those to smaller ids."""
    return sorted(taken, key=lambda step: (-step.weight, step.end, step.kind))[:most]
