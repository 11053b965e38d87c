"""The notes and entities around one of them, laid out on a plane."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from clawmem.app.bootstrap.services import Services
from clawmem.app.interfaces.web.rendering import address, note_address
from clawmem.app.operations.documents import kg_query
from clawmem.app.services.documents.records import titled_file
from clawmem.ports.knowledge import Entity, RelationKind

MOST_NODES = 300
MOST_EACH = 12  # relations of one kind that are followed from a note
LABEL = 34  # characters
WIDTH, HEIGHT = 1000.0, 580.0  # of the plane
# The connections that are drawn, in words; links and names have stores of their own.
KINDS = {
    RelationKind.SEMANTIC: "is near",
    RelationKind.CAUSAL: "led to",
    RelationKind.SUPPORTING: "supports",
    RelationKind.CONTRADICTS: "contradicts",
    RelationKind.USAGE: "used with",
}


class Node(NamedTuple):
    """A note or an entity, its steps from the middle, and its place on the plane."""

    key: str
    label: str
    href: str
    kind: str
    steps: int
    x: float = 0.0
    y: float = 0.0


class Edge(NamedTuple):
    """A connection of two nodes, and its kind in a word."""

    ends: tuple[Node, Node]
    kind: str


class Neighbourhood(NamedTuple):
    """The nodes, nearest first, and their connections; ``is_cut`` if there are more."""

    nodes: list[Node]
    edges: list[Edge]
    is_cut: bool


@dataclass
class _Builder:
    """Collects nodes up to `MOST_NODES`, and connections between them."""

    services: Services
    nodes: dict[str, Node] = field(default_factory=dict)
    edges: dict[tuple[str, str], str] = field(default_factory=dict)
    is_cut: bool = False

    def add(self, node: Node) -> bool:
        """Add *node* unless it is there; return whether it is now."""
        if node.key not in self.nodes and len(self.nodes) >= MOST_NODES:
            self.is_cut = True
            return False
        self.nodes.setdefault(node.key, node)
        return True

    def add_entity(self, entity: Entity, steps: int) -> str:
        href = address("/graph", entity=entity.name)
        self.add(Node(f"e{entity.id}", entity.name[:LABEL], href, entity.kind, steps))
        return f"e{entity.id}"

    def add_notes(self, numbers: Iterable[int], steps: int) -> list[int]:
        """Add served notes; return those that are new."""
        wanted = [number for number in numbers if str(number) not in self.nodes]
        notes = self.services.vault.documents.many(wanted)
        new = []
        for number in wanted:
            if (note := notes.get(number)) and note.inactive is None and str(number) not in self.nodes:
                label = titled_file(note).title or note.display_path
                if self.add(Node(str(number), label[:LABEL], note_address(note.display_path), "note", steps)):
                    new.append(number)
        return new

    def connect(self, first: str, second: str, kind: str) -> None:
        if kind == "replaces":
            self.edges.pop((second, first), None)
            self.edges[first, second] = kind
        elif first != second and (second, first) not in self.edges:
            self.edges.setdefault((first, second), kind)

    def follow(self, numbers: list[int], steps: int) -> list[int]:
        """Add the neighbours of notes, by links, relations and the names that they share; return the new notes."""
        vault = self.services.vault
        pairs = [(pair.newer, pair.older, "replaces") for pair in vault.successions.direct(numbers)]
        pairs += [
            (link.document_id, link.target_id, "links to")
            for link in (*vault.links.outgoing(numbers), *vault.links.incoming(numbers))
            if link.target_id
        ]
        pairs += [
            (relation.source, relation.target, KINDS[relation.kind])
            for relations in (vault.relations.outbound, vault.relations.inbound)
            for relation in relations(numbers, KINDS, limit=MOST_EACH)
        ]
        new = self.add_notes((end for first, second, _ in pairs for end in (first, second)), steps)
        for first, second, kind in pairs:
            self.connect(str(first), str(second), kind)
        for number in numbers:
            for entity in vault.entities.mentions(number)[:MOST_EACH]:
                self.connect(str(number), self.add_entity(entity, steps), "names")
        return new

    def laid_out(self) -> Neighbourhood:
        """Return the nodes with places: what is connected is near."""
        edges = {pair: kind for pair, kind in self.edges.items() if {*pair} <= self.nodes.keys()}
        places = dict(zip(self.nodes, _places([*self.nodes], edges), strict=True))
        placed = {
            key: node._replace(x=round(places[key][0] * WIDTH, 1), y=round(places[key][1] * HEIGHT, 1))
            for key, node in self.nodes.items()
        }
        connected = [Edge((placed[first], placed[second]), kind) for (first, second), kind in edges.items()]
        return Neighbourhood(sorted(placed.values(), key=lambda node: node.steps), connected, self.is_cut)


def _places(keys: Sequence[str], edges: Iterable[tuple[str, str]]) -> list[tuple[float, float]]:
    """
    Return a place between 0 and 1 both ways for each key; what is connected is near.

    The keys begin on a circle. Then each is pushed from all others and pulled to what it is connected with, by steps that
    get smaller (Fruchterman and Reingold, Graph drawing by force-directed placement, 1991). Labels are wide, so heights
    count double.
    """
    import numpy as np

    count = len(keys)
    index = {key: number for number, key in enumerate(keys)}
    pulls = np.zeros((count, count))
    for first, second in edges:
        pulls[index[first], index[second]] = pulls[index[second], index[first]] = 1
    angles = np.arange(count) * 2.4  # the golden angle, so that neighbours of the list lie apart
    radii = np.sqrt(np.arange(count) / count)
    places = np.stack([radii * np.cos(angles), radii * np.sin(angles)], axis=1)
    apart = 2 / count**0.5
    for step in np.linspace(0.2, 0.002, 80):
        gaps = (places[:, None] - places[None]) * (1, 0.6)
        distances = np.maximum(np.hypot(gaps[..., 0], gaps[..., 1]), 0.01)
        forces = apart**2 / distances**2 - pulls * distances / apart
        moves = (gaps * forces[..., None]).sum(axis=1) - places * 0.3 * apart
        lengths = np.maximum(np.hypot(moves[:, 0], moves[:, 1]), 0.01)
        places += moves / lengths[:, None] * np.minimum(lengths, step)[:, None]
    low, high = places.min(axis=0), places.max(axis=0)
    return [(x, y) for x, y in ((places - (low + high) / 2) / np.maximum(high - low, 0.01) + 0.5).tolist()]


def around_note(services: Services, number: int, depth: int) -> Neighbourhood:
    """Return what is at most *depth* steps away from a note."""
    builder = _Builder(services)
    edge = builder.add_notes([number], 0)
    for steps in range(1, depth + 1):
        edge = builder.follow(edge, steps) if edge else edge
    return builder.laid_out()


def around_entity(services: Services, name: str, as_of: str) -> Neighbourhood:
    """Return an entity, its facts (as of a day, if one is given), and the notes that name it."""
    builder, known = _Builder(services), kg_query(services, name, as_of=as_of or None)
    middle = builder.add_entity(known.entity, 0)
    for fact in known.facts[:MOST_NODES]:
        other = fact.object if fact.subject == known.entity.name else fact.subject
        key = f"f{other}"
        builder.add(Node(key, other[:LABEL], address("/graph", entity=other), "fact", 1))
        ends = (middle, key) if fact.subject == known.entity.name else (key, middle)
        builder.connect(*ends, f"{fact.predicate}{'' if fact.current else ' (ended)'}")
    notes = builder.add_notes(services.vault.entities.mentioning(known.entity.id, 40), 1)
    for number in notes:
        builder.connect(str(number), middle, "names")
    builder.follow(notes, 2)
    return builder.laid_out()
