"""Relations between documents, and the entities, facts and notes made from them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from clawmem.app.bootstrap.services import Services
from clawmem.app.operations.fields import Address, AsOf, Limit, LongLimit
from clawmem.app.operations.operation import Command, Effect, Option, Result, argument, operation
from clawmem.app.services.documents.records import DocumentReference, reference_to
from clawmem.app.services.knowledge.facts import (
    EntityFacts,
    NoteVersion,
    entities_like,
    entity_facts,
    versions,
)
from clawmem.app.services.knowledge.graph import SIMILAR, BuildReport, CausalLink, causes_and_effects
from clawmem.app.services.retrieval.request import first_after
from clawmem.app.services.retrieval.retrieve import NO_VECTORS
from clawmem.domain.briefing.blocks import shortened
from clawmem.domain.graph.traversal import DEPTH, LEAST_DEPTH, MOST_DEPTH
from clawmem.domain.graph.traversal import Direction as CausalDirection
from clawmem.domain.security.quoting import lines_to_read
from clawmem.ports.knowledge import Direction, Entity

LONGEST_NAME = 1000  # characters
PREVIEW = 50  # characters of a context shown in a line


class Evolution(Result):
    """A document, and the versions of the note about it, newest first."""

    document: DocumentReference
    count: int
    timeline: list[NoteVersion]


def _facts_text(result: EntityFacts) -> Iterator[str]:
    for fact in result.facts:  # as [outgoing] Ann → uses → Redis (since 2026-03-31) [current, 90%] notes/a.md
        since = f" (since {fact.valid_from})" if fact.valid_from else ""
        until = f"{'current' if fact.current else f'ended {fact.valid_to}'}, {fact.confidence:.0%}"
        statement = f"{fact.subject} → {fact.predicate} → {fact.object}"
        yield from lines_to_read(f"[{fact.direction}] {statement}{since} [{until}] {fact.file}", fact.origin)
    if not result.facts:
        yield f"No facts about {result.entity.name} are known."
    yield f"All entities: {result.stats.current_facts} facts hold, {result.stats.expired_facts} ended."


def _evolution_text(result: Evolution) -> Iterator[str]:
    """Yield the versions with their keywords and contexts; those about a text of others are quoted."""
    for version in result.timeline:
        cause = f" by {version.triggered_by.file}" if version.triggered_by else ""
        about = f"v{version.version} {version.created_at[:10]} ({version.origin}){cause} {version.reasoning}"
        said = f"  {', '.join(version.new_keywords)}: {shortened(version.new_context or 'none', PREVIEW)}"
        yield from lines_to_read(f"{about}\n{said}", result.document.origin)
    if not result.timeline:
        yield f"There is no note about {result.document.file} yet. Run: clawmem maintain enrich"


@operation(
    Effect.READS,
    columns="name kind mention_count=documents id",
    empty="No entity found. Entities come from: clawmem maintain enrich",
    items="entities",
    route="/graph/entities",
    commands=(Command("entities"),),
)
def find_entities(
    services: Services,
    query: Annotated[str, "Words of its name.", Field(max_length=LONGEST_NAME), argument("NAME...")] = "",
    limit: Limit = 10,
) -> list[Entity]:
    """List people, projects, tools and other things by name, or with a similar name; without one the most mentioned."""
    entities = services.vault.entities
    if not query:
        return entities.frequent(limit)
    return entities.search(query, limit) or entities_like(entities, query, limit)


@operation(Effect.READS, text=_facts_text, route="/graph/facts", commands=(Command("entities", "--facts"),))
def kg_query(
    services: Services,
    entity: Annotated[str, "Name or id.", Field(min_length=1, max_length=LONGEST_NAME), argument("NAME...")],
    as_of: Annotated[str | None, "Only what held on this day; otherwise what ended as well."] = None,
    direction: Annotated[
        Literal["outgoing", "incoming", "both"],
        "With the entity as subject (outgoing), object (incoming), or both.",
    ] = "both",
    limit: LongLimit = 100,
) -> EntityFacts:
    """List the facts about a person, project, tool or other thing, and when they held."""
    vault, way = services.vault, Direction(direction)
    return entity_facts(vault.documents, vault.entities, vault.triples, entity, limit, way, as_of or None)


@operation(
    Effect.READS,
    text=_evolution_text,
    route="/graph/evolution/{docid:path}",
    commands=(Command("timeline", "--evolution"),),
)
def memory_evolution_status(services: Services, docid: Address, limit: Limit = 10) -> Evolution:
    """List the versions of the note about a document, each with the document that caused it, newest first."""
    vault, document = services.vault, services.lookup.find(docid)
    timeline = versions(vault.documents, vault.notes, document, limit)
    reference = reference_to(vault.documents, document)
    return Evolution(document=reference, count=len(timeline), timeline=timeline)


# -- relations between documents ------------------------------------------------------------------------


class Graphs(Result):
    """The relations after a build; null for a kind that was not requested."""

    temporal: BuildReport | None = None
    semantic: BuildReport | None = None
    degraded: dict[str, str] = Field(default={}, description="Kinds that could not be built, and why.")


@operation(Effect.REPEATABLE, route="/graphs/build", commands=(Command("maintain", "WORK=graph"),))
def build_graphs(
    services: Services,
    graph_types: Annotated[
        list[Literal["temporal", "semantic", "all"]] | None,
        Field(min_length=1, description="Kinds of relations: temporal order, similar meaning, or all."),
        Option(("--type",)),
    ] = None,
    semantic_threshold: Annotated[
        float,
        "Least cosine of documents with a similar meaning.",
        Field(gt=0, le=1),
        Option(("--threshold",)),
    ] = SIMILAR,
) -> Graphs:
    """Relate documents that are close in time or in meaning; relations of other origins stay."""
    wanted, graphs = {*(graph_types or ["all"])}, Graphs()
    if wanted & {"temporal", "all"}:
        with services.progress("Ordering by time") as step:
            graphs.temporal = services.build_graphs.temporal(step)
    if wanted & {"semantic", "all"}:
        with services.progress("Finding neighbours") as step:
            graphs.semantic = services.build_graphs.semantic(semantic_threshold, step)
        if services.vault.embeddings.fingerprint() is None:
            graphs.degraded = {"semantic": NO_VECTORS}
    return graphs


@operation(
    Effect.READS,
    columns="direction depth=steps weight file reasoning",
    empty="No causes or effects are known.",
    items="links",
    route="/graph/causal/{docid:path}",
    commands=(Command("links", "--causes"),),
)
def find_causal_links(
    services: Services,
    docid: Address,
    direction: Annotated[
        Literal["causes", "caused_by", "both"], "Its effects (causes), its causes (caused_by), or both."
    ] = "both",
    depth: Annotated[int, Field(ge=LEAST_DEPTH, le=MOST_DEPTH, description="Steps to follow.")] = DEPTH,
    as_of: AsOf = "",
) -> list[CausalLink]:
    """List the causes and effects of a document, with their distance in steps and known reasons."""
    vault, document = services.vault, services.lookup.find(docid)
    way, moment = CausalDirection(direction), first_after(as_of)
    return causes_and_effects(vault.documents, vault.relations, document, way, depth, moment)
