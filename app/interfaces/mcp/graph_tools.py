"""Tools along relations and through time: causes, graphs, entities, facts, how notes went on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult
from pydantic import Field

from clawmem.app.interfaces.mcp import graph_schemas
from clawmem.app.interfaces.mcp.calling import answer
from clawmem.app.interfaces.mcp.progress import steps_for
from clawmem.app.records.documents import place_of, steps_of
from clawmem.app.records.entities import counts_line, fact_lines, facts_of, things_of
from clawmem.app.records.evolution import MOST_VERSIONS, VERSIONS, evolution_lines, evolution_of
from clawmem.app.records.parameters import Limit, Name, Vault
from clawmem.app.serve.dispatcher import Dispatcher
from clawmem.app.services.graph.build import SIMILAR
from clawmem.app.services.retrieval.lacking import NO_VECTORS, lacks_vectors
from clawmem.domain.graph.causal import DEPTH
from clawmem.domain.graph.causal import Direction as Way
from clawmem.domain.security.quoting import lines_to_read

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.records.entities import Facts
    from clawmem.app.records.evolution import Evolution


GraphType = Literal["temporal", "semantic", "all"]
EVERY: list[GraphType] = ["all"]


class GraphTools:
    """Causes, relations and what is said of things."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher

    async def find_causal_links(
        self,
        docid: Name,
        direction: Annotated[
            Literal["causes", "caused_by", "both"],
            Field(description="What it led to, what led to it, or both."),
        ] = "both",
        depth: Annotated[int, Field(ge=1, le=10, description="Over so many steps.")] = DEPTH,
        vault: Vault = None,
    ) -> Annotated[CallToolResult, graph_schemas.CausalLinks]:
        """What led to a document, and what it led to, step by step with the reasons."""

        def work(services: Services) -> graph_schemas.CausalLinks:
            document = services.lookup.find(docid)
            links = steps_of(services, services.causal_links(document, Way(direction), depth))
            return graph_schemas.CausalLinks.model_validate(
                {"source": place_of(services, document), "direction": direction, "links": links}
            )

        said = await self._dispatcher.read(work, vault)
        lines = [line for one in said.links for line in _link_lines(one)]
        return answer("\n".join(lines) or f"Nothing is known to have led to {said.source.file}.", said)

    async def build_graphs(
        self,
        ctx: Context[Any, Any],
        graph_types: Annotated[list[GraphType], Field(description="Which relations are made anew.")] = EVERY,
        semantic_threshold: Annotated[
            float, Field(gt=0, le=1, description="Cosine from which on two documents are about the same.")
        ] = SIMILAR,
        vault: Vault = None,
    ) -> Annotated[CallToolResult, graph_schemas.Graphs]:
        """Relate documents that follow each other in time or are about the same; safe to repeat."""
        step = steps_for(ctx, "relating documents")
        wanted = {"temporal", "semantic"} if "all" in graph_types else set(graph_types)

        def work(services: Services) -> graph_schemas.Graphs:
            made = {}
            if "temporal" in wanted:
                made["temporal"] = services.build_graphs.temporal(step)
            if "semantic" in wanted:
                made["semantic"] = services.build_graphs.semantic(semantic_threshold, step)
            counts = {
                kind: graph_schemas.GraphCounts(relations=one.relations, changed=one.changed)
                for kind, one in made.items()
            }
            lacking = "semantic" in wanted and lacks_vectors(services.vault)
            return graph_schemas.Graphs(**counts, degraded={"semantic": NO_VECTORS} if lacking else {})

        said = await self._dispatcher.write(work, vault)
        both = {"temporal": said.temporal, "semantic": said.semantic}
        lines = [
            f"{kind}: {made.relations} relations, {made.changed} changed"
            for kind, made in both.items()
            if made
        ]
        return answer("\n".join([*lines, *(f"degraded: {k}: {v}" for k, v in said.degraded.items())]), said)

    async def find_entities(
        self,
        query: Annotated[str, Field(description="Words of its name, or how they begin.")],
        limit: Limit = 10,
        vault: Vault = None,
    ) -> Annotated[CallToolResult, graph_schemas.Things]:
        """People, projects, tools and other things that documents speak of, by name."""

        found = await self._dispatcher.read(lambda services: things_of(services, query, limit), vault)
        said = graph_schemas.Things.model_validate(found)
        lines = [
            f"{one.name} ({one.kind}, in {one.mention_count} documents): {one.id}" for one in said.entities
        ]
        return answer("\n".join(lines) or f"Nothing is known that is called {query}.", said)

    async def kg_query(
        self,
        entity: Annotated[str, Field(description="A name, or the id that find_entities gives.")],
        as_of: Annotated[
            str | None,
            Field(description="Only what held on this day, 2026-03-31; otherwise what ended as well."),
        ] = None,
        direction: Annotated[
            Literal["outgoing", "incoming", "both"],
            Field(description="What is said of it, where it is named beside something else, or both."),
        ] = "both",
        vault: Vault = None,
    ) -> Annotated[CallToolResult, graph_schemas.Facts]:
        """What is known of a person, project, tool or other thing, and from when to when it held."""

        def work(services: Services) -> Facts:
            return facts_of(services, entity, as_of or "", direction)

        found = await self._dispatcher.read(work, vault)
        said = graph_schemas.Facts.model_validate(found)
        lines = [line for one in found["facts"] for line in fact_lines(one)] or [
            f"Nothing is known of {said.entity.name}."
        ]
        return answer("\n".join([*lines, counts_line(found["stats"])]), said)

    async def memory_evolution_status(
        self,
        docid: Name,
        limit: Annotated[int, Field(ge=1, le=MOST_VERSIONS, description="How many versions.")] = VERSIONS,
        vault: Vault = None,
    ) -> Annotated[CallToolResult, graph_schemas.Evolution]:
        """How what is noted about a document changed, version by version, and which document let it."""

        def work(services: Services) -> Evolution:
            return evolution_of(services, services.lookup.find(docid), limit)

        found = await self._dispatcher.read(work, vault)
        said = graph_schemas.Evolution.model_validate(found)
        lines = evolution_lines(found)
        return answer("\n".join(lines) or f"Nothing is noted about {said.document.file} yet.", said)


def _link_lines(link: graph_schemas.CausalLink) -> list[str]:
    head = f"{link.direction} {link.depth}: {link.file} ({link.weight:.0%})"
    if link.trusted or not link.reasoning:
        return [f"{head} {link.reasoning}"]
    return [head, *lines_to_read(link.reasoning, link.origin)]
