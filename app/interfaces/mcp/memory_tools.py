"""The nine tools of the reference memory server, with its names, parameters and results."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, TypeVar

from mcp.types import CallToolResult, TextContent
from pydantic import BaseModel, ConfigDict, Field

from clawmem.app.operations.dispatch import Dispatcher
from clawmem.app.services.capture.redacted_transcripts import without_secrets
from clawmem.app.services.knowledge.memory_graph import MemoryGraph
from clawmem.domain.knowledge.entity_card import EntityCard

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services

T = TypeVar("T")
Names = Annotated[list[str], Field(description="Exact names.")]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class NewEntity(_Model):
    """An entity."""

    name: str
    entityType: str  # noqa: N815  as clients know it
    observations: list[str]


class Relation(_Model):
    """A relation from one entity to another, in the active voice."""

    source: str = Field(alias="from")
    to: str
    relationType: str  # noqa: N815


class Observations(_Model):
    """Observations of an entity."""

    entityName: str  # noqa: N815
    contents: list[str]


class Deletion(_Model):
    """Observations that no longer hold."""

    entityName: str  # noqa: N815
    observations: list[str]


class Entities(_Model):
    """The created entities."""

    entities: list[NewEntity]


class Relations(_Model):
    """The created relations."""

    relations: list[Relation]


class AddedObservations(_Model):
    """The new observations of an entity."""

    entityName: str  # noqa: N815
    addedObservations: list[str]  # noqa: N815


class AddedObservationsOfAll(_Model):
    """The new observations by entity."""

    results: list[AddedObservations]


class MemoryChange(_Model):
    """A confirmation, also if there was nothing to delete."""

    success: bool
    message: str


class Graph(_Model):
    """Entities, and the relations from or to them."""

    entities: list[NewEntity]
    relations: list[Relation]


class MemoryTools:
    """Tools of the knowledge graph of the reference server."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher

    async def create_entities(self, entities: list[NewEntity]) -> Annotated[CallToolResult, Entities]:
        """Create entities in the knowledge graph; existing entities are not changed."""
        cards = [
            EntityCard(one.name, one.entityType, tuple(dict.fromkeys(one.observations))) for one in entities
        ]
        made = await self._change(lambda graph: graph.create(cards))
        return _result(Entities(entities=list(map(_entity, made))))

    async def create_relations(self, relations: list[Relation]) -> Annotated[CallToolResult, Relations]:
        """Create relations between existing entities; existing relations are not changed."""

        def work(graph: MemoryGraph) -> list[Relation]:
            return [one for one in relations if graph.relate(one.source, (one.relationType, one.to))]

        return _result(Relations(relations=await self._change(work)))

    async def add_observations(
        self, observations: list[Observations]
    ) -> Annotated[CallToolResult, AddedObservationsOfAll]:
        """Add observations to existing entities."""

        def work(graph: MemoryGraph) -> list[AddedObservations]:
            return [
                AddedObservations(
                    entityName=one.entityName, addedObservations=graph.observe(one.entityName, one.contents)
                )
                for one in observations
            ]

        return _result(AddedObservationsOfAll(results=await self._change(work)))

    async def delete_entities(self, entityNames: Names) -> Annotated[CallToolResult, MemoryChange]:  # noqa: N803
        """Delete entities, and the relations from and to them."""
        await self._change(lambda graph: graph.delete(entityNames))
        return _result(MemoryChange(success=True, message="Entities deleted successfully"))

    async def delete_observations(self, deletions: list[Deletion]) -> Annotated[CallToolResult, MemoryChange]:
        """Delete observations of entities."""

        def work(graph: MemoryGraph) -> None:
            for one in deletions:
                graph.forget_observations(one.entityName, one.observations)

        await self._change(work)
        return _result(MemoryChange(success=True, message="Observations deleted successfully"))

    async def delete_relations(self, relations: list[Relation]) -> Annotated[CallToolResult, MemoryChange]:
        """Delete relations."""

        def work(graph: MemoryGraph) -> None:
            for one in relations:
                graph.unrelate(one.source, (one.relationType, one.to))

        await self._change(work)
        return _result(MemoryChange(success=True, message="Relations deleted successfully"))

    async def read_graph(self) -> Annotated[CallToolResult, Graph]:
        """Read the whole knowledge graph."""
        cards = await self._cards()
        return _result(_graph(cards, cards))

    async def search_nodes(
        self, query: Annotated[str, Field(description="Text in a name, a type or an observation.")]
    ) -> Annotated[CallToolResult, Graph]:
        """Search for entities by text in their names, types or observations."""
        cards, text = await self._cards(), query.lower()
        return _result(_graph([one for one in cards if text in _all_text(one)], cards))

    async def open_nodes(self, names: Names) -> Annotated[CallToolResult, Graph]:
        """Open entities by their names."""
        cards = await self._cards()
        return _result(_graph([one for one in cards if one.name in names], cards))

    async def _cards(self) -> list[EntityCard]:
        return await self._dispatcher.read(lambda services: _memory_graph(services).cards())

    async def _change(self, work: Callable[[MemoryGraph], T]) -> T:
        def writing(services: Services) -> T:
            with services.vault.writing():
                return work(_memory_graph(services))

        return await self._dispatcher.write(writing)


def _memory_graph(services: Services) -> MemoryGraph:
    return MemoryGraph(services.vault, services.clock, without_secrets)


def _graph(shown: Sequence[EntityCard], every: Sequence[EntityCard]) -> Graph:
    names = {card.name for card in shown}
    pairs = [(card.name, kind, to) for card in every for kind, to in card.relations]
    touching = [one for one in pairs if one[0] in names or one[2] in names]
    relations = [Relation(source=one, relationType=kind, to=to) for one, kind, to in touching]
    return Graph(entities=list(map(_entity, shown)), relations=relations)


def _entity(card: EntityCard) -> NewEntity:
    return NewEntity(name=card.name, entityType=card.type, observations=list(card.observations))


def _all_text(card: EntityCard) -> str:
    return "\n".join((card.name, card.type, *card.observations)).lower()


def _result(model: BaseModel) -> CallToolResult:
    """Return a result as the reference server does: as JSON text and as structured content."""
    record = model.model_dump(mode="json", by_alias=True)
    text = json.dumps(record, ensure_ascii=False, indent=2)
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=record)
