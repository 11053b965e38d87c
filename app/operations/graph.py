"""Relations between documents, and the entities and facts in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from clawmem.app.operations.fields import Address, DocumentReference, place_of, provenance_of, title_of
from clawmem.app.operations.operation import Command, Effect, Flag, Option, Result, operation
from clawmem.app.operations.output import plural
from clawmem.app.services.documents.listing import docids
from clawmem.app.services.knowledge.graph import SIMILAR, BuildReport, CausalStep
from clawmem.app.services.retrieval.retrievers import NO_VECTORS, lacks_vectors
from clawmem.domain.graph.causal import DEPTH, LEAST_DEPTH, MOST_DEPTH, Direction
from clawmem.domain.security.quoting import lines_to_read, title_to_read, without_orders

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services

GraphType = Literal["temporal", "semantic", "all"]
EFFECTS = {"causes": "led to", "caused_by": "because of"}


class RelationCounts(Result):
    """Number of relations of a kind, and of those that changed."""

    relations: int
    changed: int


class Graphs(Result):
    """The relations after a build; null for a kind that was not requested."""

    temporal: RelationCounts | None = None
    semantic: RelationCounts | None = None
    degraded: dict[str, str] = Field(default={}, description="Kinds that could not be built, and why.")

    @property
    def remarks(self) -> Sequence[str]:
        """Return which kinds could not be built."""
        return [f"degraded: {kind}: {reason}" for kind, reason in self.degraded.items()]


class CausalLink(DocumentReference):
    """A document of a chain; ``origin`` is that of the less trusted end of its link to the chain."""

    depth: int
    direction: str
    weight: float
    reasoning: str


class CausalLinks(Result):
    """The causes and the effects of a document."""

    source: DocumentReference
    direction: str
    links: list[CausalLink]


def _counts(report: BuildReport) -> RelationCounts:
    return RelationCounts(relations=report.relations, changed=report.changed)


def _link(step: CausalStep, docid: str) -> CausalLink:
    return CausalLink(
        docid=f"#{docid}",
        file=step.document.display_path,
        title=title_of(step.document),
        **provenance_of(step.origin),
        depth=step.depth,
        direction=step.direction,
        weight=step.weight,
        reasoning=without_orders(step.reasoning, step.origin),
    )


def _graphs_text(result: Graphs) -> str:
    made = {"temporal": result.temporal, "semantic": result.semantic}
    lines = [
        f"{kind}: {plural(counts.relations, 'relation')}, {counts.changed} changed."
        for kind, counts in made.items()
        if counts
    ]
    return "\n".join(lines)


def _causes_text(result: CausalLinks) -> str:
    source = result.source
    if not result.links:
        return f"No causes or effects of {source.file} are known."
    lines = [line for link in result.links for line in _link_lines(link)]
    return "\n".join([f"{source.file} ({title_to_read(source.title, source.origin)})", *lines])


def _link_lines(link: CausalLink) -> list[str]:
    steps = "1 step" if link.depth == 1 else f"{link.depth} steps"
    head = f"{EFFECTS[link.direction]} ({steps}, {link.weight:.0%}): {link.file}"
    if link.trusted and link.reasoning:
        return [f"{head}: {link.reasoning}"]
    return [head, *(lines_to_read(link.reasoning, link.origin) if link.reasoning else ())]


@operation(Effect.REPEATABLE, text=_graphs_text, route="/graphs/build", commands=(Command("graph build"),))
def build_graphs(
    services: Services,
    graph_types: Annotated[
        tuple[GraphType, ...],
        Field(min_length=1, description="Kinds of relations: temporal order, similar meaning, or all."),
        Option(
            flags=(
                Flag("--temporal", "temporal", "Build the order in time; without --semantic only this."),
                Flag("--semantic", "semantic", "Relate similar documents; without --temporal only this."),
            )
        ),
    ] = ("all",),
    semantic_threshold: Annotated[
        float,
        Field(gt=0, le=1, description="Least cosine of documents with a similar meaning."),
        Option(("--threshold",)),
    ] = SIMILAR,
) -> Graphs:
    """
    Relate documents that are close in time or in meaning.

    It is safe to repeat; relations of other origins stay.
    """
    wanted = {"temporal", "semantic"} if "all" in graph_types else {*graph_types}
    graphs, made = services.build_graphs, Graphs()
    if "temporal" in wanted:
        with services.progress("Ordering by time") as step:
            made.temporal = _counts(graphs.temporal(step))
    if "semantic" in wanted:
        with services.progress("Finding neighbours") as step:
            made.semantic = _counts(graphs.semantic(semantic_threshold, step))
        if lacks_vectors(services.vault.embeddings):
            made.degraded = {"semantic": NO_VECTORS}
    return made


@operation(
    Effect.READS, text=_causes_text, route="/graph/causal/{docid:path}", commands=(Command("graph causes"),)
)
def find_causal_links(
    services: Services,
    docid: Address,
    direction: Annotated[
        Literal["causes", "caused_by", "both"],
        Field(description="Effects of the document (causes), its causes (caused_by), or both."),
    ] = "both",
    depth: Annotated[
        int, Field(ge=LEAST_DEPTH, le=MOST_DEPTH, description="Number of steps to follow.")
    ] = DEPTH,
) -> CausalLinks:
    """
    List the causes and the effects of a document.

    Each is listed with its distance in steps, and the reason that is known for the last step.
    """
    document = services.lookup.find(docid)
    chain = services.causal_links(document, Direction(direction), depth)
    names = docids(services.vault.documents, [step.document for step in chain])
    return CausalLinks(
        source=DocumentReference(**place_of(services, document)),
        direction=direction,
        links=[_link(step, names[step.document.id]) for step in chain],
    )
