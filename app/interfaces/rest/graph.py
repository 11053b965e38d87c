"""Relations between documents: causes, entities, facts, evolution, and building relations."""

from __future__ import annotations

from pydantic import Field
from typing_extensions import TypedDict

from clawmem.app.bootstrap.services import Services
from clawmem.app.interfaces.rest.operation import Asked, changing, reading
from clawmem.app.operations.fields import ADDRESS
from clawmem.app.records.documents import Step, place_of, steps_of
from clawmem.app.records.entities import FACTS, MOST_FACTS, Facts, Things, facts_of, things_of
from clawmem.app.records.evolution import MOST_VERSIONS, VERSIONS, Evolution, evolution_of
from clawmem.app.services.graph.build import SIMILAR, BuildReport
from clawmem.app.services.retrieval.lacking import NO_VECTORS, lacks_vectors
from clawmem.app.services.retrieval.request import MAX_LIMIT
from clawmem.domain.graph.causal import DEPTH, LEAST_DEPTH, MOST_DEPTH, Direction
from clawmem.ports.triples import Direction as Side


class Named(Asked):
    """A document."""

    docid: str = Field(min_length=1, description=ADDRESS)


class Chain(Named):
    """A document, and how far its causes and effects are followed."""

    direction: Direction = Field(Direction.BOTH, description="What it led to, what led to it, or both.")
    depth: int = Field(DEPTH, ge=LEAST_DEPTH, le=MOST_DEPTH, description="How many steps.")


class About(Asked):
    """An entity that documents mention."""

    entity: str = Field(min_length=1, max_length=1000, description="Its name, or its id.")
    as_of: str = Field("", description="Only what held on this day, YYYY-MM-DD; else also what has ended.")
    direction: Side = Field(Side.BOTH, description="Whether it is the subject, the object, or either.")
    limit: int = Field(FACTS, ge=1, le=MOST_FACTS, description="How many.")


class Called(Asked):
    """Entities by name."""

    query: str = Field(min_length=1, max_length=1000, description="Words of a name, or how they begin.")
    limit: int = Field(10, ge=1, le=MAX_LIMIT, description="How many.")


class Versions(Named):
    """A document, and the number of versions of the note about it."""

    limit: int = Field(VERSIONS, ge=1, le=MOST_VERSIONS, description="How many.")


class Kinds(Asked):
    """The kinds of relations to build."""

    temporal: bool = Field(True, description="What came after what.")
    semantic: bool = Field(True, description="What is about the same.")
    threshold: float = Field(SIMILAR, gt=0, le=1, description="The cosine from which on that is so.")


class Steps(TypedDict):
    """Causes and effects of a document."""

    docid: str
    direction: str
    depth: int
    count: int
    links: list[Step]


class Built(TypedDict):
    """The number of relations now, by kind; null for a kind that was not requested."""

    temporal: BuildReport | None
    semantic: BuildReport | None
    degraded: dict[str, str]


def causes(services: Services, asked: Chain) -> Steps:
    """Return the causes and the effects of a document."""
    document = services.lookup.find(asked.docid)
    steps = services.causal_links(document, asked.direction, asked.depth)
    links = steps_of(services, steps)
    return {
        "docid": place_of(services, document)["docid"].removeprefix("#"),
        "direction": asked.direction,
        "depth": asked.depth,
        "count": len(links),
        "links": links,
    }


def entities(services: Services, asked: Called) -> Things:
    """List the people, projects, tools and other things that documents mention, by name."""
    return things_of(services, asked.query, asked.limit)


def facts(services: Services, asked: About) -> Facts:
    """List the facts about an entity, and when they held."""
    return facts_of(services, asked.entity, asked.as_of, asked.direction, asked.limit)


def evolution(services: Services, asked: Versions) -> Evolution:
    """List the versions of the note about a document, each with the document that caused it."""
    return evolution_of(services, services.lookup.find(asked.docid), asked.limit)


def build(services: Services, asked: Kinds) -> Built:
    """Relate documents that are close in time or in meaning; safe to repeat."""
    graphs = services.build_graphs
    lacking = asked.semantic and lacks_vectors(services.vault)
    return {
        "temporal": graphs.temporal() if asked.temporal else None,
        "semantic": graphs.semantic(asked.threshold) if asked.semantic else None,
        "degraded": {"semantic": NO_VECTORS} if lacking else {},
    }


OPERATIONS = (
    reading("GET", "/graph/causal/{docid:path}", Chain, Steps, causes),
    reading("GET", "/graph/entities", Called, Things, entities),
    reading("GET", "/graph/facts", About, Facts, facts),
    reading("GET", "/graph/evolution/{docid:path}", Versions, Evolution, evolution),
    changing("/graphs/build", Kinds, Built, build),
)
