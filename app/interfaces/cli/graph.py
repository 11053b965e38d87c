"""Relations between documents: graph build, graph causes, and the other graph commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from clawmem.app.interfaces.cli.addresses import Note
from clawmem.app.interfaces.cli.command_line import Verbs
from clawmem.app.interfaces.cli.knowledge import entities, evolution, export, facts
from clawmem.app.interfaces.cli.session import one_of, opened, tell, wants_json
from clawmem.app.services.retrieval.lacking import NO_VECTORS, lacks_vectors

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clawmem.app.bootstrap.services import Services
    from clawmem.app.interfaces.cli.rendering import Said
    from clawmem.app.operations.output import Part
    from clawmem.app.records.documents import Place, Step
    from clawmem.app.services.graph.build import BuildReport

cli = typer.Typer(rich_markup_mode=None)
relations = typer.Typer(
    cls=Verbs,
    rich_markup_mode=None,
    help="What documents have to do with each other: build, causes, entities, facts, evolution, export.",
)
cli.add_typer(relations, name="graph")


@cli.callback()
def _verbs() -> None:
    """Make the command line a group even with one command."""


LED = {"causes": "led to", "caused_by": "because of"}


@relations.command()
def build(
    ctx: typer.Context,
    temporal: Annotated[bool, typer.Option("--temporal", help="Only what came after what.")] = False,
    semantic: Annotated[bool, typer.Option("--semantic", help="Only what is about the same.")] = False,
    threshold: Annotated[
        float, typer.Option(help="Cosine from which on two documents are about the same.")
    ] = 0.7,
) -> None:
    """Relate documents that are close in time or in meaning; safe to repeat."""
    from clawmem.app.interfaces.cli.rendering import show, show_json

    every = temporal == semantic
    with opened(ctx) as services:
        made = _build(services, every or temporal, every or semantic, threshold)
        lacking = "semantic" in made and lacks_vectors(services.vault)
    if wants_json(ctx):
        show_json(
            {
                "temporal": None,
                "semantic": None,
                **made,
                "degraded": {"semantic": NO_VECTORS} if lacking else {},
            }
        )
    for kind, report in made.items():
        if not wants_json(ctx):
            show(f"{kind}: {report.relations} relations, {report.changed} changed.")
    if lacking:
        typer.echo(f"degraded: semantic: {NO_VECTORS}", err=True)


@relations.command()
def causes(
    ctx: typer.Context,
    name: Note,
    direction: Annotated[str, typer.Option(help="causes, caused_by or both.")] = "both",
    depth: Annotated[int, typer.Option(help="How many steps, 1 to 10.")] = 5,
) -> None:
    """Show the causes and the effects of a document."""

    def say(services: Services) -> Said:
        from clawmem.app.interfaces.cli.rendering import Said, json_part
        from clawmem.app.records.documents import place_of, steps_of
        from clawmem.domain.graph.causal import Direction

        way = Direction(one_of("--direction", direction, tuple(Direction)))
        document = services.lookup.find(name)
        links = steps_of(services, services.causal_links(document, way, depth))
        source = place_of(services, document)
        if wants_json(ctx):
            return Said([json_part({"source": source, "direction": way, "links": links})])
        return Said([*_chain_parts(source, links)])

    tell(ctx, say)


for _verb in (entities, facts, evolution, export):
    relations.command()(_verb)


def _chain_parts(source: Place, links: Sequence[Step]) -> Iterator[Part]:
    from clawmem.app.operations.output import printable, table
    from clawmem.domain.security.quoting import title_to_read

    if not links:
        yield printable(f"Nothing is known to have led to {source['file']}, or to have come of it.")
        return
    yield printable(f"{source['file']} ({title_to_read(source['title'], source['origin'])})")
    rows = [
        (
            LED[link["direction"]],
            link["depth"],
            f"{link['weight']:.0%}",
            link["file"],
            title_to_read(link["reasoning"], link["origin"]),
        )
        for link in links
    ]
    yield table(("", "steps", "sure", "document", "reasoning"), rows)


def _build(services: Services, temporal: bool, semantic: bool, threshold: float) -> dict[str, BuildReport]:
    from clawmem.app.interfaces.cli.progress import progress

    made: dict[str, BuildReport] = {}
    if temporal:
        with progress("Ordering by time") as step:
            made["temporal"] = services.build_graphs.temporal(step)
    if semantic:
        with progress("Looking for neighbours") as step:
            made["semantic"] = services.build_graphs.semantic(threshold, step)
    return made
