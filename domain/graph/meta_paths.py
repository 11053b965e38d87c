"""
Multi-path forward push (MPFP): weight that flows from what was found along fixed sequences of relations.

Each sequence is a guess at how an answer hangs together with what was found ("about the same, and that caused
…"). The push is the local one of personalised PageRank (Andersen, Chung & Lang 2006), one kind of relation a hop.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import groupby
from operator import attrgetter
from types import MappingProxyType

from clawmem.domain.graph.edges import Edges, Step, steps, strongest
from clawmem.domain.retrieval.intent import Intent
from clawmem.ports.relations import RelationKind

ALPHA = 0.15  # the share of what arrives that stays
LEAST = 1e-4  # less than this is neither pushed on nor an answer
EDGES_A_NODE = 10
BUDGET = 30

Taken = Callable[[frozenset[int], RelationKind], Sequence[Step]]
"""The steps of one kind from some documents, those of each together."""

_SEMANTIC, _CAUSAL, _ENTITY = RelationKind.SEMANTIC, RelationKind.CAUSAL, RelationKind.ENTITY
_TEMPORAL, _SUPPORTING = RelationKind.TEMPORAL, RelationKind.SUPPORTING

META_PATHS: Mapping[Intent, Sequence[Sequence[RelationKind]]] = MappingProxyType(
    {
        Intent.WHY: ((_SEMANTIC, _CAUSAL), (_CAUSAL, _SEMANTIC), (_SEMANTIC, _SEMANTIC)),
        Intent.ENTITY: ((_ENTITY, _SEMANTIC), (_ENTITY, _ENTITY), (_SEMANTIC, _ENTITY)),
        Intent.WHEN: ((_TEMPORAL, _SEMANTIC), (_SEMANTIC, _TEMPORAL)),
        Intent.WHAT: ((_SEMANTIC, _SEMANTIC), (_SEMANTIC, _SUPPORTING)),
    }
)


def forward_push(
    anchors: Mapping[int, float], intent: Intent, edges: Edges, budget: int = BUDGET
) -> list[tuple[int, float]]:
    """
    What flows into documents from *anchors* along the intent's meta-paths; of several paths the largest.

    An anchor keeps 0.15 of its score. At each hop a document passes 0.85 of what it holds on to its at most
    ten heaviest relations of that hop's kind, shared by their weights; each receiver keeps 0.15 of its share
    and holds all of it for the next hop. A document that holds 0.0001 or less passes nothing on.

    Returns:
        (document, weight) above 0.0001, by weight descending, then id; at most *budget*, anchors among them.
    """

    @cache  # several paths begin alike
    def taken(nodes: frozenset[int], kind: RelationKind) -> list[Step]:
        return steps(edges, nodes, intent, (kind,))

    largest: dict[int, float] = {}
    for path in META_PATHS[intent]:
        for document_id, weight in push_along(path, anchors, taken).items():
            largest[document_id] = max(weight, largest.get(document_id, 0.0))
    found = [(document_id, weight) for document_id, weight in largest.items() if weight > LEAST]
    return sorted(found, key=lambda one: (-one[1], one[0]))[:budget]


def shares_of_all(pushed: Iterable[tuple[int, float]], anchors: Mapping[int, float]) -> dict[int, float]:
    """
    How much of all that flows from the anchors arrives at each document, in [0, 1]. No anchors.

    The published system divides by the largest weight instead, so that the best of any neighbours counts as
    much as one that everything points to. Over a graph of mere likenesses nDCG@10 on LoCoMo fell from .835
    to .806.
    """
    all_of_it = ALPHA * math.fsum(anchors.values())
    return {found: min(weight / all_of_it, 1.0) for found, weight in pushed if found not in anchors}


def push_along(path: Sequence[RelationKind], anchors: Mapping[int, float], taken: Taken) -> dict[int, float]:
    """What flows into every document along one meta-path, the anchors among them."""
    kept = {document_id: [score * ALPHA] for document_id, score in anchors.items()}
    held = dict(anchors)
    for kind in path:
        pushed = {document_id: amount for document_id, amount in held.items() if amount > LEAST}
        held = _hop(pushed, taken(frozenset(pushed), kind)) if pushed else {}
        for document_id, amount in held.items():
            kept.setdefault(document_id, []).append(amount * ALPHA)
    return {document_id: math.fsum(shares) for document_id, shares in kept.items()}


def _hop(held: Mapping[int, float], every: Sequence[Step]) -> dict[int, float]:
    """What each document holds after one hop. Summed exactly: the order of edges cannot show in it."""
    shares: defaultdict[int, list[float]] = defaultdict(list)
    for start, from_start in groupby(every, attrgetter("start")):
        heaviest = strongest(from_start, EDGES_A_NODE)
        total = math.fsum(step.weight for step in heaviest)
        for step in heaviest:
            shares[step.end].append(held[start] * (1 - ALPHA) * step.weight / total)
    return {document_id: math.fsum(amounts) for document_id, amounts in shares.items()}
