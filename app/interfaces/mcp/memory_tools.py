"""The nine tools of the reference memory server, under its names and with its shapes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, TypeVar

from mcp.types import CallToolResult, TextContent
from pydantic import BaseModel, ConfigDict, Field

from clawmem.app.interfaces.mcp.memory_card import Card
from clawmem.app.interfaces.mcp.memory_graph import MemoryGraph
from clawmem.app.serve.dispatcher import Dispatcher

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services

T = TypeVar("T")
Names = Annotated[list[str], Field(description="Names, exactly as they were given.")]


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class NewEntity(_Shape):
    """Somebody or something."""

    name: str
    entityType: str  # noqa: N815  as clients know it
    observations: list[str]


class Relation(_Shape):
    """From one entity to another, in the active voice."""

    source: str = Field(alias="from")
    to: str
    relationType: str  # noqa: N815


class Observations(_Shape):
    """What was observed of an entity."""

    entityName: str  # noqa: N815
    contents: list[str]


class Deletion(_Shape):
    """Observations that no longer hold."""

    entityName: str  # noqa: N815
    observations: list[str]


class Entities(_Shape):
    """Those that were created."""

    entities: list[NewEntity]


class Relations(_Shape):
    """Those that were created."""

    relations: list[Relation]


class Added(_Shape):
    """What was new of an entity."""

    entityName: str  # noqa: N815
    addedObservations: list[str]  # noqa: N815


class AddedAll(_Shape):
    """What was new, entity by entity."""

    results: list[Added]


class Done(_Shape):
    """That it is so now, whether or not it was before."""

    success: bool
    message: str


class Graph(_Shape):
    """Entities, and the relations that begin or end at one of them."""

    entities: list[NewEntity]
    relations: list[Relation]


class MemoryTools:
    """The knowledge graph, as clients of the reference server know it."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher

    async def create_entities(self, entities: list[NewEntity]) -> Annotated[CallToolResult, Entities]:
        """Create entities in the knowledge graph; those that are there stay as they are."""
        cards = [Card(one.name, one.entityType, tuple(dict.fromkeys(one.observations))) for one in entities]
        made = await self._change(lambda graph: graph.create(cards))
        return _said(Entities(entities=list(map(_entity, made))))

    async def create_relations(self, relations: list[Relation]) -> Annotated[CallToolResult, Relations]:
        """Create relations between entities that are there; one that is there stays as it is."""

        def work(graph: MemoryGraph) -> list[Relation]:
            return [one for one in relations if graph.relate(one.source, (one.relationType, one.to))]

        return _said(Relations(relations=await self._change(work)))

    async def add_observations(self, observations: list[Observations]) -> Annotated[CallToolResult, AddedAll]:
        """Add observations to entities that are there."""

        def work(graph: MemoryGraph) -> list[Added]:
            return [
                Added(
                    entityName=one.entityName, addedObservations=graph.observe(one.entityName, one.contents)
                )
                for one in observations
            ]

        return _said(AddedAll(results=await self._change(work)))

    async def delete_entities(self, entityNames: Names) -> Annotated[CallToolResult, Done]:  # noqa: N803
        """Delete entities, and the relations from and to them."""
        await self._change(lambda graph: graph.delete(entityNames))
        return _said(Done(success=True, message="Entities deleted successfully"))

    async def delete_observations(self, deletions: list[Deletion]) -> Annotated[CallToolResult, Done]:
        """Delete observations of entities."""

        def work(graph: MemoryGraph) -> None:
            for one in deletions:
                graph.forget_observations(one.entityName, one.observations)

        await self._change(work)
        return _said(Done(success=True, message="Observations deleted successfully"))

    async def delete_relations(self, relations: list[Relation]) -> Annotated[CallToolResult, Done]:
        """Delete relations."""

        def work(graph: MemoryGraph) -> None:
            for one in relations:
                graph.unrelate(one.source, (one.relationType, one.to))

        await self._change(work)
        return _said(Done(success=True, message="Relations deleted successfully"))

    async def read_graph(self) -> Annotated[CallToolResult, Graph]:
        """Read the whole knowledge graph."""
        cards = await self._cards()
        return _said(_graph(cards, cards))

    async def search_nodes(
        self, query: Annotated[str, Field(description="Text of a name, a type or an observation.")]
    ) -> Annotated[CallToolResult, Graph]:
        """Search for entities by a text that stands in their names, types or observations."""
        cards, text = await self._cards(), query.lower()
        return _said(_graph([one for one in cards if text in _all_text(one)], cards))

    async def open_nodes(self, names: Names) -> Annotated[CallToolResult, Graph]:
        """Open entities by their names."""
        cards = await self._cards()
        return _said(_graph([one for one in cards if one.name in names], cards))

    async def _cards(self) -> list[Card]:
        return await self._dispatcher.read(
            lambda services: MemoryGraph(services.vault, services.clock).cards()
        )

    async def _change(self, work: Callable[[MemoryGraph], T]) -> T:
        def writing(services: Services) -> T:
            with services.vault.writing():
                return work(MemoryGraph(services.vault, services.clock))

        return await self._dispatcher.write(writing)


def _graph(shown: Sequence[Card], every: Sequence[Card]) -> Graph:
    names = {card.name for card in shown}
    pairs = [(card.name, kind, to) for card in every for kind, to in card.relations]
    touching = [one for one in pairs if one[0] in names or one[2] in names]
    relations = [Relation(source=one, relationType=kind, to=to) for one, kind, to in touching]
    return Graph(entities=list(map(_entity, shown)), relations=relations)


def _entity(card: Card) -> NewEntity:
    return NewEntity(name=card.name, entityType=card.type, observations=list(card.observations))


def _all_text(card: Card) -> str:
    return "\n".join((card.name, card.type, *card.observations)).lower()


def _said(shape: BaseModel) -> CallToolResult:
    """As the reference server says it: the JSON, in words and as structure."""
    told = shape.model_dump(mode="json", by_alias=True)
    text = json.dumps(told, ensure_ascii=False, indent=2)
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=told)
