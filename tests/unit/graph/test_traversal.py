"""The beam search over relations: what its vectors cannot say of every graph."""

from __future__ import annotations

import math
import random
from collections.abc import Collection

from bindings_graph import Table
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.graph.traversal import OTHER_STRUCTURE, STRUCTURE, Bounds, scaled, steps, traverse
from clawmem.domain.retrieval.intent import Intent
from clawmem.ports.knowledge import RelationKind

NODES = st.integers(1, 12)
WEIGHTS = st.floats(0.01, 1.0)
GRAPHS = st.lists(
    st.tuples(NODES, NODES, st.sampled_from(RelationKind), WEIGHTS), max_size=60, unique_by=lambda e: e[:3]
)
ANCHORS = st.dictionaries(NODES, st.floats(0.0, 1.0), max_size=6)
INTENTS = st.sampled_from(Intent)
BOUNDS = st.builds(Bounds, depth=st.integers(1, 4), beam=st.integers(1, 5), budget=st.integers(1, 10))
COSINES = st.dictionaries(NODES, st.floats(-1.0, 1.0))
Scores = dict[int, float]
Edges = list[tuple[int, int, RelationKind, float]]


def reachable(anchors: Collection[int], table: Table, intent: Intent, depth: int) -> set[int]:
    seen = set(anchors)
    for _ in range(depth):
        seen |= {step.end for step in steps(table, seen, intent)}
    return seen


@given(anchors=ANCHORS, edges=GRAPHS, intent=INTENTS, bounds=BOUNDS, cosines=COSINES)
def test_the_budget_is_exceeded_by_less_than_a_beam(
    anchors: Scores, edges: Edges, intent: Intent, bounds: Bounds, cosines: Scores
) -> None:
    """However the graph is tied together; anchors count, and are kept even if they alone exceed it."""
    found = traverse(anchors, intent, Table.of(edges), lambda n: cosines.get(n, 0.0), bounds)

    assert len(found) <= max(len(anchors), bounds.budget - 1 + bounds.beam)
    assert len(found) <= len(anchors) + bounds.depth * bounds.beam


@given(anchors=ANCHORS, edges=GRAPHS, intent=INTENTS, bounds=BOUNDS, cosines=COSINES)
def test_a_document_is_reached_once_by_steps_that_there_are(
    anchors: Scores, edges: Edges, intent: Intent, bounds: Bounds, cosines: Scores
) -> None:
    """No document twice, none out of reach, anchors with their own scores, best first."""
    table = Table.of(edges)

    found = traverse(anchors, intent, table, lambda n: cosines.get(n, 0.0), bounds)

    names = [one.document_id for one in found]
    assert len(names) == len(set(names))
    assert set(anchors) <= set(names) <= reachable(anchors, table, intent, bounds.depth)
    assert {one.document_id: one.score for one in found if one.depth == 0} == anchors
    assert found == sorted(found, key=lambda one: (-one.score, one.document_id))


@given(anchors=ANCHORS, edges=GRAPHS, intent=INTENTS, bounds=BOUNDS, cosines=COSINES, chance=st.randoms())
def test_the_order_of_edges_and_anchors_does_not_matter(
    anchors: Scores, edges: Edges, intent: Intent, bounds: Bounds, cosines: Scores, chance: random.Random
) -> None:
    """The same graph in another order is the same graph."""
    shuffled, others = [*edges], [*anchors.items()]
    chance.shuffle(shuffled)
    chance.shuffle(others)

    def similarity(number: int) -> float:
        return cosines.get(number, 0.0)

    assert traverse(anchors, intent, Table.of(edges), similarity, bounds) == traverse(
        dict(others), intent, Table.of(shuffled), similarity, bounds
    )


@given(anchors=ANCHORS, edges=GRAPHS, intent=INTENTS, cosines=COSINES)
def test_asking_for_few_similarities_changes_nothing(
    anchors: Scores, edges: Edges, intent: Intent, cosines: Scores
) -> None:
    """What the beam keeps of a level is what one that looks at every document would keep."""
    bounds = Bounds(depth=1, beam=3, budget=100)
    table = Table.of(edges)

    found = traverse(anchors, intent, table, lambda n: cosines.get(n, 0.0), bounds)

    scores: Scores = {}
    for step in steps(table, anchors, intent):
        cosine = cosines.get(step.end, 0.0)
        transition = math.exp(0.6 * STRUCTURE[intent].get(step.kind, OTHER_STRUCTURE) + 0.4 * cosine)
        score = 0.9 * anchors[step.start] + transition * step.weight
        if step.end not in anchors:
            scores[step.end] = max(score, scores.get(step.end, 0.0))
    best = sorted(scores.items(), key=lambda one: (-one[1], one[0]))[: bounds.beam]
    assert [(one.document_id, one.score) for one in found if one.depth] == best


@given(anchors=ANCHORS, edges=GRAPHS, intent=INTENTS, cosines=COSINES)
def test_scaled_scores_are_shares(anchors: Scores, edges: Edges, intent: Intent, cosines: Scores) -> None:
    """Nothing is better than the best way there can be, and nothing is worth less than nothing."""
    found = traverse(anchors, intent, Table.of(edges), lambda n: cosines.get(n, 0.0))

    assert all(0.0 <= score <= 1.0 for score in scaled(found, intent).values())
    assert scaled(found, intent).keys() == {one.document_id for one in found if one.depth}
