"""Chains of causes and effects that start at one document."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from clawmem.domain.graph.traversal import Edges
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
        relations = edges.outbound(frontier, _CAUSAL) if is_effect else edges.inbound(frontier, _CAUSAL)
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
