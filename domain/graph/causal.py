"""Chains of causes and effects that start at one document."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from clawmem.domain.graph.edges import Edges
from clawmem.ports.knowledge import Relation, RelationKind

DEPTH = 5
LEAST_DEPTH, MOST_DEPTH = 1, 10
MOST_LINKS = 1000  # bounds the traversal from a hub

_CAUSAL = (RelationKind.CAUSAL,)


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
    wanted = (Direction.CAUSES, Direction.CAUSED_BY) if direction is Direction.BOTH else (direction,)
    every = [link for way in wanted for link in _chain(start, edges, way, steps)]
    nearest: dict[int, CausalLink] = {}
    for link in sorted(every, key=_nearest_first):
        nearest.setdefault(link.document_id, link)
    return list(nearest.values())


def _chain(start: int, edges: Edges, direction: Direction, depth: int) -> list[CausalLink]:
    links_by_document: dict[int, CausalLink] = {}
    frontier = {start}
    for level in range(1, depth + 1):
        if not frontier or len(links_by_document) >= MOST_LINKS:
            break
        links = (
            CausalLink(_end(relation, direction), level, direction, relation)
            for relation in _relations(edges, frontier, direction)
        )
        new = [
            link for link in links if link.document_id not in links_by_document and link.document_id != start
        ]
        for link in sorted(new, key=_nearest_first):
            links_by_document.setdefault(link.document_id, link)
        frontier = {link.document_id for link in new}
    return list(links_by_document.values())


def _relations(edges: Edges, nodes: set[int], direction: Direction) -> Sequence[Relation]:
    along = direction is Direction.CAUSES
    return edges.outbound(nodes, _CAUSAL) if along else edges.inbound(nodes, _CAUSAL)


def _end(relation: Relation, direction: Direction) -> int:
    return relation.target if direction is Direction.CAUSES else relation.source


def _nearest_first(link: CausalLink) -> tuple[int, float, int, bool, int, int]:
    is_cause = link.direction is Direction.CAUSED_BY
    relation = link.relation
    return (link.depth, -relation.weight, link.document_id, is_cause, relation.source, relation.target)
