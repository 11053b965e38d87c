"""
Graph search: adaptive traversal and forward push from the search results to related documents, merging of scores, and
chains of causes.

The traversal is a beam search after MAGMA (arXiv 2601.03236): the intent of the question determines the weight of each
kind of relation, and the similarity of a document to the question decides among relations of one kind.

The multi-path forward push (MPFP) lets weight flow along fixed sequences of relations. Each is a hypothesis about how an
answer is related to a search result ("similar to it, and caused by that"). The push is local personalised PageRank
(Andersen, Chung & Lang 2006) with one kind of relation per hop.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from clawmem.domain.retrieval.intent import Intent
from clawmem.ports.knowledge import EVERY_KIND, Relation, RelationKind

# "Is similar to" and "mentions the same entity" are symmetric, whichever document they were stored from.
BOTH_WAYS = frozenset({RelationKind.SEMANTIC, RelationKind.ENTITY})


EdgesAt = Callable[[Collection[int], Collection[RelationKind]], Sequence[Relation]]


class Edges(NamedTuple):
    """Functions that return the strongest relations of some kinds that begin and end at each of some nodes, in any order."""

    outbound: EdgesAt
    inbound: EdgesAt


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
    # The published algorithm follows causal relations only from cause to effect. A question that asks for the reason
    # describes the effect, and its answer is the cause, so these questions also follow them backwards.
    symmetric = BOTH_WAYS | {RelationKind.CAUSAL} if intent is Intent.WHY else BOTH_WAYS
    back = symmetric.intersection(kinds)
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


# -- adaptive traversal ---------------------------------------------------------------------------------

DECAY = 0.9  # share of a document's score that it passes on
FOR_STRUCTURE, FOR_MEANING = 0.6, 0.4  # weights of the kind of relation and of the cosine
OTHER_STRUCTURE = 1.0  # for the kinds supporting, contradicts and usage

_KINDS = (RelationKind.CAUSAL, RelationKind.SEMANTIC, RelationKind.TEMPORAL, RelationKind.ENTITY)
STRUCTURE: Mapping[Intent, Mapping[RelationKind, float]] = {
    Intent.WHY: dict(zip(_KINDS, (5.0, 2.0, 0.5, 1.0), strict=True)),
    Intent.WHEN: dict(zip(_KINDS, (1.0, 2.0, 5.0, 0.5), strict=True)),
    Intent.ENTITY: dict(zip(_KINDS, (2.0, 3.0, 1.0, 6.0), strict=True)),
    Intent.WHAT: dict(zip(_KINDS, (1.0, 5.0, 1.0, 2.0), strict=True)),
}


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of a traversal: levels, documents kept per level, and documents after which no level is expanded."""

    depth: int
    beam: int
    budget: int


SEARCH_BOUNDS = Bounds(depth=2, beam=5, budget=30)  # for 10 anchors
CLAUSE_BOUNDS = Bounds(depth=2, beam=3, budget=15)  # for the 5 anchors of one clause of a plan


class TraversedDocument(NamedTuple):
    """A reached document, its distance from the anchors, and its score, comparable within one traversal only."""

    document_id: int
    score: float
    depth: int


def traverse(
    anchors: Mapping[int, float],
    intent: Intent,
    edges: Edges,
    similarity: Callable[[int], float],
    bounds: Bounds = SEARCH_BOUNDS,
) -> list[TraversedDocument]:
    """
    Return the documents that can be reached from *anchors*, best first; the anchors keep their own scores.

    Each level keeps the ``beam`` best documents that the previous level leads to. A step scores
    ``0.9 * score(start) + exp(0.6 * structure(intent, kind) + 0.4 * cosine) * weight``. A document that several
    steps lead to gets its best score. A document that was reached is not reached again. No level is expanded once
    ``budget`` documents were reached, so the result exceeds the budget by less than one beam.

    Args:
        anchors: Scores by document.
        similarity: Returns the cosine of a document and the question, in [-1, 1]; 0 for a document without a vector.

    Returns:
        Documents by score descending, then id ascending. The order of the edges does not matter.
    """
    reached = {
        document_id: TraversedDocument(document_id, score, 0) for document_id, score in anchors.items()
    }
    frontier = [*reached.values()]
    for depth in range(1, bounds.depth + 1):
        if not frontier or len(reached) >= bounds.budget:
            break
        passed_on = {document.document_id: DECAY * document.score for document in frontier}
        ways = defaultdict[int, list[Step]](list)
        for step in steps(edges, passed_on, intent):
            if step.end not in reached:
                ways[step.end].append(step)
        level: list[TraversedDocument] = []
        for document_id, several in ways.items():
            cosine = max(-1.0, min(1.0, similarity(document_id)))
            structures = (STRUCTURE[intent].get(step.kind, OTHER_STRUCTURE) for step in several)
            gains = (math.exp(FOR_STRUCTURE * structure + FOR_MEANING * cosine) for structure in structures)
            scores = (
                passed_on[step.start] + gain * step.weight for step, gain in zip(several, gains, strict=True)
            )
            level.append(TraversedDocument(document_id, max(scores), depth))
        frontier = sorted(level, key=lambda document: (-document.score, document.document_id))[: bounds.beam]
        reached.update((document.document_id, document) for document in frontier)
    return sorted(reached.values(), key=lambda document: (-document.score, document.document_id))


def scaled(reached: Iterable[TraversedDocument], intent: Intent) -> dict[int, float]:
    """
    Return the scores relative to the highest score possible at each document's distance, in [0, 1], without anchors.

    An anchor scores 1 at most, and a step from it has the best kind, weight 1 and cosine 1.

    The published system divides by the highest score of the traversal instead, so that the best of weak neighbours
    counts as much as a certain cause. In a graph of similarity relations only, that ranked neighbours above
    matching documents: nDCG@10 on Cranfield fell from .425 to .253.
    """
    documents = [document for document in reached if document.depth]
    best = max(*STRUCTURE[intent].values(), OTHER_STRUCTURE)
    highest = [1.0]  # by distance
    for _ in range(max((document.depth for document in documents), default=0)):
        highest.append(DECAY * highest[-1] + math.exp(FOR_STRUCTURE * best + FOR_MEANING))
    return {document.document_id: document.score / highest[document.depth] for document in documents}


# -- forward push ---------------------------------------------------------------------------------------

ALPHA = 0.15  # share of the incoming weight that a document retains
LEAST = 1e-4  # weights up to this are neither pushed on nor returned
BUDGET = 30

_SEMANTIC, _CAUSAL, _ENTITY = RelationKind.SEMANTIC, RelationKind.CAUSAL, RelationKind.ENTITY
_TEMPORAL, _SUPPORTING = RelationKind.TEMPORAL, RelationKind.SUPPORTING

META_PATHS: Mapping[Intent, Sequence[Sequence[RelationKind]]] = {
    Intent.WHY: ((_SEMANTIC, _CAUSAL), (_CAUSAL, _SEMANTIC), (_SEMANTIC, _SEMANTIC)),
    Intent.ENTITY: ((_ENTITY, _SEMANTIC), (_ENTITY, _ENTITY), (_SEMANTIC, _ENTITY)),
    Intent.WHEN: ((_TEMPORAL, _SEMANTIC), (_SEMANTIC, _TEMPORAL)),
    Intent.WHAT: ((_SEMANTIC, _SEMANTIC), (_SEMANTIC, _SUPPORTING)),
}


def forward_push(
    anchors: Mapping[int, float], intent: Intent, edges: Edges, budget: int = BUDGET
) -> list[tuple[int, float]]:
    """
    Return the weight that flows from *anchors* into each document; the largest over the meta-paths of *intent*.

    An anchor retains 0.15 of its score. At each hop, a document distributes 0.85 of its weight over its ten
    heaviest relations of that hop's kind, in proportion to their weights. Each receiver retains 0.15 of its
    input and pushes the rest at the next hop. A document with a weight of 0.0001 or less pushes nothing.

    Returns:
        Pairs (document, weight) with weights above 0.0001, by weight descending, then id ascending; at most
        *budget*, anchors included.
    """
    hops = cache(lambda nodes, kind: steps(edges, nodes, intent, (kind,)))  # several paths begin alike
    largest: dict[int, float] = {}
    for path in META_PATHS[intent]:
        for document_id, weight in push_along(path, anchors, hops).items():
            largest[document_id] = max(weight, largest.get(document_id, 0.0))
    weighted = [(document_id, weight) for document_id, weight in largest.items() if weight > LEAST]
    return sorted(weighted, key=lambda pair: (-pair[1], pair[0]))[:budget]


def shares_of_all(pushed: Iterable[tuple[int, float]], anchors: Mapping[int, float]) -> dict[int, float]:
    """
    Return the share of all weight from the anchors that arrives at each document, in [0, 1], without the anchors.

    The published system divides by the largest weight instead, so that the best of weak neighbours counts as much
    as a document that all relations lead to. In a graph of similarity relations only, that lowered nDCG@10 on
    LoCoMo from .835 to .806.
    """
    all_of_it = ALPHA * math.fsum(anchors.values())
    return {document: min(weight / all_of_it, 1.0) for document, weight in pushed if document not in anchors}


def push_along(
    path: Sequence[RelationKind],
    anchors: Mapping[int, float],
    taken: Callable[[frozenset[int], RelationKind], Sequence[Step]],
) -> dict[int, float]:
    """
    Return the weight that flows into every document along one meta-path, anchors included.

    `math.fsum` makes it independent of the order of edges. *taken* returns the steps of one kind from some documents,
    grouped by their start.
    """
    shares = {document_id: [score * ALPHA] for document_id, score in anchors.items()}
    weights = dict(anchors)
    for kind in path:
        pushed = {document_id: amount for document_id, amount in weights.items() if amount > LEAST}
        received: defaultdict[int, list[float]] = defaultdict(list)
        for start, from_start in groupby(taken(frozenset(pushed), kind), attrgetter("start")):
            heaviest = sorted(from_start, key=lambda step: (-step.weight, step.end))[:10]
            total = math.fsum(step.weight for step in heaviest)
            for step in heaviest:
                received[step.end].append(pushed[start] * (1 - ALPHA) * step.weight / total)
        weights = {document_id: math.fsum(amounts) for document_id, amounts in received.items()}
        for document_id, amount in weights.items():
            shares.setdefault(document_id, []).append(amount * ALPHA)
    return {document_id: math.fsum(amounts) for document_id, amounts in shares.items()}


# -- merging --------------------------------------------------------------------------------------------

COMPANION_SHARE = 0.7  # share of its score that a document found by co-occurring entities keeps


class Shares(NamedTuple):
    """Weights of a scaled graph score: for a document that the search also found, and for a new document."""

    present: float
    new: float


TRAVERSED = Shares(present=1.1, new=0.8)
PUSHED = Shares(present=0.9, new=0.75)


def merge(found: Mapping[int, float], reached: Mapping[int, float], shares: Shares) -> dict[int, float]:
    """
    Return the scores of *found*, raised to the weighted graph score where that is higher, and those of new documents.

    Args:
        found: Scores of the search by document, in [0, 1].
        reached: Scores of the graph by document, in [0, 1].
        shares: Weights of the graph scores.
    """
    merged = dict(found)
    for document_id, score in reached.items():
        share = shares.present if document_id in found else shares.new
        merged[document_id] = max(found.get(document_id, 0.0), score * share)
    return merged


def with_companions(found: Mapping[int, float], companions: Mapping[int, float]) -> dict[int, float]:
    """Return the scores of *found*, and 0.7 times the scores of those *companions* that are not in *found*."""
    new = {document_id: COMPANION_SHARE * score for document_id, score in companions.items()}
    return {**new, **found}


def cooccurrence_score(count: int) -> float:
    """Return ``min(1, ln(1 + count) / 5)``, the strength of two entities that *count* documents mention together."""
    return min(1.0, math.log1p(count) / 5)


# -- causes and effects ---------------------------------------------------------------------------------

DEPTH = 5
LEAST_DEPTH, MOST_DEPTH = 1, 10
MOST_LINKS = 1000  # bounds the traversal from a hub


class Direction(StrEnum):
    """Direction in which a causal chain is followed from its start."""

    CAUSES = "causes"  # effects of the start
    CAUSED_BY = "caused_by"  # causes of the start
    BOTH = "both"


class CausalLink(NamedTuple):
    """A document of a chain, with its distance, its direction and the relation that leads to it."""

    document_id: int
    depth: int
    direction: Direction
    relation: Relation


def causal_links(
    start: int, edges: Edges, direction: Direction = Direction.BOTH, depth: int = DEPTH
) -> list[CausalLink]:
    """
    Return the effects of *start*, its causes, or both, at most *depth* steps away.

    Each document is listed once, at its smallest distance. If several relations lead to it at that distance, the
    heaviest is returned. `Direction.BOTH` follows effects of effects and causes of causes, but not effects of
    causes. *start* itself is never returned, even when the relations form a cycle.

    Args:
        depth: Clamped to 1..10.

    Returns:
        Links by depth ascending, then weight descending, then id ascending. No further level is expanded once
        `MOST_LINKS` links were found.
    """
    steps = min(max(depth, LEAST_DEPTH), MOST_DEPTH)
    ways = (Direction.CAUSES, Direction.CAUSED_BY) if direction is Direction.BOTH else (direction,)
    every = [link for way in ways for link in _chain(start, edges, way, steps)]
    every.sort(key=lambda link: (link.depth, -link.relation.weight, link.document_id))
    nearest: dict[int, CausalLink] = {}
    for link in every:
        nearest.setdefault(link.document_id, link)
    return list(nearest.values())


def _chain(start: int, edges: Edges, way: Direction, depth: int) -> Iterator[CausalLink]:
    """Yield the links in one direction, level by level, each document once."""
    is_effect = way is Direction.CAUSES
    reached = {start}
    frontier = {start}
    for level in range(1, depth + 1):
        relations = (
            edges.outbound(frontier, (RelationKind.CAUSAL,))
            if is_effect
            else edges.inbound(frontier, (RelationKind.CAUSAL,))
        )
        level_links: dict[int, CausalLink] = {}
        for relation in sorted(relations, key=lambda edge: (-edge.weight, edge.source, edge.target)):
            end = relation.target if is_effect else relation.source
            if end not in reached:
                level_links.setdefault(end, CausalLink(end, level, way, relation))
        yield from level_links.values()
        frontier = {*level_links}
        reached |= frontier
        if not frontier or len(reached) > MOST_LINKS:
            return
