"""The nine tools of the reference memory server, with its names, parameters and results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from clawmem.app.operations.operation import Effect, NoParameters, Operation, Option, Request, Result
from clawmem.app.services.knowledge.memory_graph import MemoryGraph
from clawmem.domain.knowledge.entity_card import EntityCard

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services

Names = Annotated[list[str], Field(description="Exact names.")]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True, serialize_by_alias=True)


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


class AddedObservations(_Model):
    """The new observations of an entity."""

    entityName: str  # noqa: N815
    addedObservations: list[str]  # noqa: N815


class NewEntities(Request):
    """Entities to create."""

    entities: list[NewEntity]


class NamedRelations(Request):
    """Relations to create or to delete."""

    relations: list[Relation]


class NewObservations(Request):
    """Observations to add."""

    observations: list[Observations]


class NamedEntities(Request):
    """Entities to delete."""

    names: Annotated[Names, Option(tool="entityNames")]


class Deletions(Request):
    """Observations to delete."""

    deletions: list[Deletion]


class NodeQuery(Request):
    """Text to search for."""

    query: Annotated[str, Field(description="Text in a name, a type or an observation.")]


class NodeNames(Request):
    """Entities to open."""

    names: Names


class Entities(Result):
    """The created entities."""

    entities: list[NewEntity]


class Relations(Result):
    """The created relations."""

    relations: list[Relation]


class AddedObservationsOfAll(Result):
    """The new observations by entity."""

    results: list[AddedObservations]


class MemoryChange(Result):
    """A confirmation, also if there was nothing to delete."""

    success: bool
    message: str


class Graph(Result):
    """Entities, and the relations from or to them."""

    entities: list[NewEntity]
    relations: list[Relation]


def create_entities(services: Services, request: NewEntities) -> Entities:
    """Create entities in the knowledge graph; existing entities are not changed."""
    cards = [
        EntityCard(one.name, one.entityType, tuple(dict.fromkeys(one.observations)))
        for one in request.entities
    ]
    with services.vault.writing():
        return Entities(entities=list(map(_entity, _memory_graph(services).create(cards))))


def create_relations(services: Services, request: NamedRelations) -> Relations:
    """Create relations between existing entities; existing relations are not changed."""
    with services.vault.writing():
        graph = _memory_graph(services)
        made = [one for one in request.relations if graph.relate(one.source, (one.relationType, one.to))]
    return Relations(relations=made)


def add_observations(services: Services, request: NewObservations) -> AddedObservationsOfAll:
    """Add observations to existing entities."""
    with services.vault.writing():
        graph = _memory_graph(services)
        added = [
            (one.entityName, graph.observe(one.entityName, one.contents)) for one in request.observations
        ]
    return AddedObservationsOfAll(
        results=[AddedObservations(entityName=name, addedObservations=texts) for name, texts in added]
    )


def delete_entities(services: Services, request: NamedEntities) -> MemoryChange:
    """Delete entities, and the relations from and to them."""
    with services.vault.writing():
        _memory_graph(services).delete(request.names)
    return MemoryChange(success=True, message="Entities deleted successfully")


def delete_observations(services: Services, request: Deletions) -> MemoryChange:
    """Delete observations of entities."""
    with services.vault.writing():
        for one in request.deletions:
            _memory_graph(services).forget_observations(one.entityName, one.observations)
    return MemoryChange(success=True, message="Observations deleted successfully")


def delete_relations(services: Services, request: NamedRelations) -> MemoryChange:
    """Delete relations."""
    with services.vault.writing():
        for one in request.relations:
            _memory_graph(services).unrelate(one.source, (one.relationType, one.to))
    return MemoryChange(success=True, message="Relations deleted successfully")


def read_graph(services: Services, request: NoParameters) -> Graph:
    """Read the whole knowledge graph."""
    cards = _memory_graph(services).cards()
    return _graph(cards, cards)


def search_nodes(services: Services, request: NodeQuery) -> Graph:
    """Search for entities by text in their names, types or observations."""
    cards, text = _memory_graph(services).cards(), request.query.lower()
    return _graph([one for one in cards if text in _all_text(one)], cards)


def open_nodes(services: Services, request: NodeNames) -> Graph:
    """Open entities by their names."""
    cards = _memory_graph(services).cards()
    return _graph([one for one in cards if one.name in request.names], cards)


def _memory_graph(services: Services) -> MemoryGraph:
    return MemoryGraph(services.vault, services.clock)


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


def _as_json(result: Result) -> str:
    """Return the text of a result as the reference server does: as JSON."""
    return result.model_dump_json(indent=2)


def _tool(run: Any, effect: Effect) -> Operation[Any, Any]:
    return Operation(run.__name__, run, effect, _as_json, any_vault=False, commands=())


OPERATIONS = (
    _tool(read_graph, Effect.READS),
    _tool(search_nodes, Effect.READS),
    _tool(open_nodes, Effect.READS),
    _tool(create_entities, Effect.REPEATABLE),
    _tool(create_relations, Effect.REPEATABLE),
    _tool(add_observations, Effect.REPEATABLE),
    _tool(delete_entities, Effect.DESTROYS),
    _tool(delete_observations, Effect.DESTROYS),
    _tool(delete_relations, Effect.DESTROYS),
)
