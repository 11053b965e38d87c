"""How the vectors of the graph's policies call this implementation."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from clawmem.domain.graph.traversal import (
    PUSHED,
    TRAVERSED,
    Bounds,
    Direction,
    Step,
    TraversedDocument,
    causal_links,
    forward_push,
    merge,
    push_along,
    scaled,
    shares_of_all,
    steps,
    traverse,
    with_companions,
)
from clawmem.domain.retrieval.intent import Intent, weights_for_intent
from clawmem.ports.knowledge import Relation, RelationKind


@dataclass(frozen=True)
class Table:
    """A graph as a list of edges: source, target, kind, weight."""

    relations: tuple[Relation, ...]

    @classmethod
    def of(cls, edges: Sequence[Sequence[Any]]) -> Table:
        return cls(tuple(Relation(s, t, RelationKind(kind), weight) for s, t, kind, weight in edges))

    def outbound(self, nodes: Collection[int], kinds: Collection[RelationKind]) -> list[Relation]:
        return [r for r in self.relations if r.source in nodes and r.kind in kinds]

    def inbound(self, nodes: Collection[int], kinds: Collection[RelationKind]) -> list[Relation]:
        return [r for r in self.relations if r.target in nodes and r.kind in kinds]


def _traversal(given: dict[str, Any]) -> list[list[float]]:
    cosines = {int(number): cosine for number, cosine in given.get("cosines", {}).items()}
    bounds = {"bounds": Bounds(**given["bounds"])} if "bounds" in given else {}
    reached = traverse(
        dict(given["anchors"]),
        Intent(given["intent"]),
        Table.of(given["edges"]),
        lambda number: cosines.get(number, 0.0),
        **bounds,
    )
    return [list(one) for one in reached]


def _meta_paths(given: dict[str, Any]) -> list[list[float]]:
    anchors, intent, edges = dict(given["anchors"]), Intent(given["intent"]), Table.of(given["edges"])
    if "path" not in given:
        budget = {"budget": given["budget"]} if "budget" in given else {}
        return [list(one) for one in forward_push(anchors, intent, edges, **budget)]

    def taken(nodes: frozenset[int], kind: RelationKind) -> list[Step]:
        return steps(edges, nodes, intent, (kind,))

    path = [RelationKind(kind) for kind in given["path"]]
    return [list(one) for one in sorted(push_along(path, anchors, taken).items())]


def _causal_links(given: dict[str, Any]) -> list[list[Any]]:
    chosen = {name: given[name] for name in ("depth",) if name in given}
    direction = Direction(given.get("direction", "both"))
    found = causal_links(given["start"], Table.of(given["edges"]), direction, **chosen)
    return [[link.document_id, link.depth, link.direction.value, link.relation.weight] for link in found]


def _graph_merging(given: dict[str, Any]) -> list[list[float]]:
    scores = dict(given["found"])
    reached = scaled([TraversedDocument(*one) for one in given.get("traversed", ())], Intent(given["intent"]))
    scores = merge(scores, reached, TRAVERSED)
    pushed = given.get("pushed", ())
    scores = merge(scores, shares_of_all(pushed, dict(given.get("anchors", ()))), PUSHED)
    scores = with_companions(scores, dict(given.get("companions", ())))
    return [list(one) for one in sorted(scores.items())]


BINDINGS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "traversal": _traversal,
    "meta_paths": _meta_paths,
    "causal_links": _causal_links,
    "graph_merging": _graph_merging,
    "leg_weights": lambda given: weights_for_intent(
        given["weights"], Intent(given["intent"]), given["meaning"]
    ),
}
