"""The graph between documents: graph build, graph causes, intent-search."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from clawmem.app.cli.command_line import Verbs
from clawmem.app.cli.retrieval import (
    NO_VECTORS,
    AsOf,
    Explain,
    Floor,
    Given,
    Limit,
    MinScore,
    Question,
    Since,
    Tags,
    Types,
    Until,
    Words,
    read_question,
)
from clawmem.app.cli.session import Collections, one_of, opened, wants_json

if TYPE_CHECKING:
    from clawmem.app.opened import Services
    from clawmem.app.services.graph.build import BuildReport
    from clawmem.app.services.retrieval.pipelines.intent_search import IntentAnswer

cli = typer.Typer(rich_markup_mode=None)
relations = typer.Typer(cls=Verbs, rich_markup_mode=None, help="Relations between documents: build, causes.")
cli.add_typer(relations, name="graph")

IntentName = Annotated[
    str, typer.Option("--intent", help="What it asks for: WHY, WHEN, ENTITY or WHAT.", show_default=False)
]
NoGraph = Annotated[bool, typer.Option("--no-graph", help="Do not follow relations.")]

AUTO = ""  # the question's own words say what it asks for
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
    """Relate documents that follow each other in time, or are about the same; safe to repeat."""
    from clawmem.app.cli.rendering import show, show_json

    every = temporal == semantic
    with opened(ctx) as services:
        made = _build(services, every or temporal, every or semantic, threshold)
        has_vectors = services.vault.embeddings.fingerprint() is not None
    if wants_json(ctx):
        show_json(made)
    for kind, report in made.items():
        if not wants_json(ctx):
            show(f"{kind}: {report.relations} relations, {report.changed} changed.")
    if "semantic" in made and not has_vectors:
        typer.echo(f"degraded: semantic: {NO_VECTORS}", err=True)


@relations.command()
def causes(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="DOC", help="A path, clawmem:// address or #docid.")],
    direction: Annotated[str, typer.Option(help="causes, caused_by or both.")] = "both",
    depth: Annotated[int, typer.Option(help="How many steps, 1 to 10.")] = 5,
) -> None:
    """What led to a document, and what it led to."""
    from clawmem.app.cli.rendering import show, show_json, show_table
    from clawmem.app.records.documents import place_of, steps_of
    from clawmem.domain.graph.causal import Direction

    way = Direction(one_of("--direction", direction, tuple(Direction)))
    with opened(ctx, read_only=True) as services:
        document = services.lookup.find(name)
        links = steps_of(services, services.causal_links(document, way, depth))
        source = place_of(services, document)
    if wants_json(ctx):
        show_json({"source": source, "direction": way, "links": links})
    elif not links:
        show(f"Nothing is known to have led to {document.display_path}, or to have come of it.")
    else:
        show(f"{document.display_path} ({document.title})")
        rows = [
            (LED[link["direction"]], link["depth"], f"{link['weight']:.0%}", link["file"], link["reasoning"])
            for link in links
        ]
        show_table(("", "steps", "sure", "document", "reasoning"), rows)


@cli.command("intent-search")
def intent_search(
    ctx: typer.Context,
    words: Words,
    limit: Limit = 10,
    collection: Collections = None,
    intent: IntentName = AUTO,
    no_graph: NoGraph = False,
    min_score: MinScore = 0.0,
    since: Since = "",
    until: Until = "",
    as_of: AsOf = "",
    content_type: Types = None,
    tag: Tags = None,
    floor: Floor = 0.0,
    explain: Explain = False,
) -> None:
    """Find by what the question asks for: reasons and relations are followed from document to document."""
    from clawmem.domain.retrieval.intent import Intent

    question = Question(
        words,
        limit,
        collection,
        min_score,
        since=since,
        until=until,
        as_of=as_of,
        content_types=content_type,
        tags=tag,
        floor=floor,
    )
    forced = Intent(one_of("--intent", intent.upper(), tuple(Intent))) if intent else None
    with opened(ctx, read_only=True) as services:
        began = perf_counter()
        request = read_question(services, question)
        found = services.intent_search(forced, with_graph=not no_graph)(request)
        if services.vault.embeddings.fingerprint() is None:
            found.trace.degraded["vector"] = NO_VECTORS
        given = Given(services, found, request, "intent_search", (perf_counter() - began) * 1000)
        _show(ctx, found, given, explain)


def _build(services: Services, temporal: bool, semantic: bool, threshold: float) -> dict[str, BuildReport]:
    from clawmem.app.cli.progress import progress

    made: dict[str, BuildReport] = {}
    if temporal:
        with progress("Ordering by time") as step:
            made["temporal"] = services.build_graphs.temporal(step)
    if semantic:
        with progress("Looking for neighbours") as step:
            made["semantic"] = services.build_graphs.semantic(threshold, step)
    return made


def _show(ctx: typer.Context, found: IntentAnswer, given: Given, explain: bool) -> None:
    from clawmem.app.cli.rendering import answer_record, show, show_answer, show_degraded, show_json

    receipt = given.receipt() if explain else None
    kept = given.record(lambda: receipt) if receipt else None
    if wants_json(ctx):
        said = {"intent": found.intent, "confidence": found.confidence}
        show_json({**said, **answer_record(found, receipt, kept)})
    else:
        show(f"asks for: {found.intent} ({found.confidence:.2f})")
        show_answer(found, receipt)
    show_degraded(found.trace)
    if receipt is None:
        given.record(given.receipt)  # when nobody waits any more
