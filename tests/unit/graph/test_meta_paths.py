"""The forward push: what its vectors cannot say of every graph."""

from __future__ import annotations

import math
import random

from bindings_graph import Table
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.graph.traversal import BUDGET, LEAST, Step, forward_push, push_along, shares_of_all, steps
from clawmem.domain.retrieval.intent import Intent
from clawmem.ports.knowledge import RelationKind

NODES = st.integers(1, 12)
EDGE = st.tuples(NODES, NODES, st.sampled_from(RelationKind), st.floats(0.01, 1.0))
GRAPHS = st.lists(EDGE, max_size=60, unique_by=lambda e: e[:3])
ANCHORS = st.dictionaries(NODES, st.floats(0.0, 1.0), max_size=6)
INTENTS = st.sampled_from(Intent)
Edges = list[tuple[int, int, RelationKind, float]]


@given(
    anchors=ANCHORS, edges=GRAPHS, intent=INTENTS, path=st.lists(st.sampled_from(RelationKind), max_size=4)
)
def test_nothing_flows_that_was_not_there(
    anchors: dict[int, float], edges: Edges, intent: Intent, path: list[RelationKind]
) -> None:
    """What all documents keep of one path is at most what the anchors held."""
    table = Table.of(edges)

    def taken(nodes: frozenset[int], kind: RelationKind) -> list[Step]:
        return steps(table, nodes, intent, (kind,))

    kept = push_along(path, anchors, taken)

    assert math.fsum(kept.values()) <= math.fsum(anchors.values()) * (1 + 1e-9)


@given(anchors=ANCHORS, edges=GRAPHS, intent=INTENTS, chance=st.randoms())
def test_the_order_of_edges_and_anchors_does_not_matter(
    anchors: dict[int, float], edges: Edges, intent: Intent, chance: random.Random
) -> None:
    """The same graph in another order gives the same weights, to the last bit."""
    shuffled, others = [*edges], [*anchors.items()]
    chance.shuffle(shuffled)
    chance.shuffle(others)

    assert forward_push(anchors, intent, Table.of(edges)) == forward_push(
        dict(others), intent, Table.of(shuffled)
    )


@given(anchors=ANCHORS, edges=GRAPHS, intent=INTENTS, budget=st.integers(1, 8))
def test_a_budget_cuts_and_nothing_else(
    anchors: dict[int, float], edges: Edges, intent: Intent, budget: int
) -> None:
    """The best stay the best whatever the budget; all are above the least, each is named once."""
    table = Table.of(edges)

    found = forward_push(anchors, intent, table)

    assert forward_push(anchors, intent, table, budget) == found[:budget]
    assert len({number for number, _ in found}) == len(found) <= BUDGET
    assert all(weight > LEAST for _, weight in found)


@given(anchors=ANCHORS, edges=GRAPHS, intent=INTENTS)
def test_shares_are_shares(anchors: dict[int, float], edges: Edges, intent: Intent) -> None:
    """Scaled they lie between nothing and all, and say nothing about anchors."""
    shares = shares_of_all(forward_push(anchors, intent, Table.of(edges)), anchors)

    assert all(0.0 < share <= 1.0 for share in shares.values())
    assert not shares.keys() & anchors.keys()


def test_what_several_paths_share_is_looked_up_once() -> None:
    """The neighbours of the anchors are asked for once for each kind."""
    asked: list[tuple[frozenset[int], tuple[RelationKind, ...]]] = []

    class Counting(Table):
        def outbound(self, nodes, kinds):  # type: ignore[no-untyped-def]
            asked.append((frozenset(nodes), tuple(kinds)))
            return super().outbound(nodes, kinds)

    forward_push({1: 1.0}, Intent.WHY, Counting.of([(1, 2, "semantic", 0.5), (2, 3, "causal", 0.5)]))

    assert len(asked) == len(set(asked))
    assert (frozenset({1}), (RelationKind.SEMANTIC,)) in asked
