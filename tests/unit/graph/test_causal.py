"""Chains of causes: what their vectors cannot say of every graph."""

from __future__ import annotations

import random

from bindings_graph import Table
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.graph.traversal import MOST_LINKS, Direction, causal_links
from clawmem.ports.knowledge import RelationKind

NODES = st.integers(1, 12)
CAUSES = st.lists(
    st.tuples(NODES, NODES, st.just(RelationKind.CAUSAL), st.floats(0.01, 1.0)),
    max_size=40,
    unique_by=lambda e: e[:3],
)
Edges = list[tuple[int, int, RelationKind, float]]


def distances(start: int, edges: Edges, depth: int) -> dict[int, int]:
    """How many effects away each document is, level by level."""
    found, level = {start: 0}, {start}
    for steps in range(1, depth + 1):
        level = {t for s, t, *_ in edges if s in level} - found.keys()
        found.update(dict.fromkeys(level, steps))
    return {number: steps for number, steps in found.items() if steps}


@given(edges=CAUSES, start=NODES, depth=st.integers(1, 10))
def test_each_at_its_distance(edges: Edges, start: int, depth: int) -> None:
    """Whatever cycles there are, a document is given once, at the fewest steps, and never the first one."""
    found = causal_links(start, Table.of(edges), Direction.CAUSES, depth)

    assert {link.document_id: link.depth for link in found} == distances(start, edges, depth)
    assert len(found) == len({link.document_id for link in found})
    assert [link.depth for link in found] == sorted(link.depth for link in found)


@given(edges=CAUSES, start=NODES)
def test_causes_are_effects_the_other_way_round(edges: Edges, start: int) -> None:
    """In a graph with every arrow turned round what led to a document is what it led to."""
    turned = [(t, s, kind, weight) for s, t, kind, weight in edges]

    causes = causal_links(start, Table.of(edges), Direction.CAUSED_BY)
    effects = causal_links(start, Table.of(turned), Direction.CAUSES)

    assert [(link.document_id, link.depth) for link in causes] == [
        (link.document_id, link.depth) for link in effects
    ]


@given(edges=CAUSES, start=NODES, chance=st.randoms())
def test_the_order_of_edges_does_not_matter(edges: Edges, start: int, chance: random.Random) -> None:
    """The same graph in another order gives the same chains."""
    shuffled = [*edges]
    chance.shuffle(shuffled)

    assert causal_links(start, Table.of(edges)) == causal_links(start, Table.of(shuffled))


def test_a_walk_from_a_hub_ends() -> None:
    """Once so many were found no further level begins."""
    hub = [(1, number, "causal", 0.5) for number in range(2, MOST_LINKS + 2)]

    found = causal_links(1, Table.of([*hub, (2, 5000, "causal", 0.9)]))

    assert len(found) == MOST_LINKS
    assert {link.depth for link in found} == {1}
