"""The enrichment of documents with keywords, entities and links: enrich."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from clawmem.app.interfaces.cli.session import opened, wants_json

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.services.knowledge.enriching import EnrichReport
    from clawmem.ports.ledger import Cost

cli = typer.Typer(rich_markup_mode=None)

SUSPICIOUS = 20  # from this number of documents on, a run without any name or fact causes a warning


@cli.callback()
def _family() -> None:
    """Make the command line a group even with one command."""


@cli.command()
def enrich(
    ctx: typer.Context,
    limit: Annotated[
        int | None,
        typer.Option("-n", "--limit", min=1, help="At most so many documents.", show_default=False),
    ] = None,
    anew: Annotated[
        bool, typer.Option("--all", help="Also notes of another model, and failed ones.")
    ] = False,
    no_model: Annotated[bool, typer.Option("--no-model", help="By rules alone.")] = False,
    daily_calls: Annotated[
        int | None,
        typer.Option(min=0, help="At most so many questions to a model a day; 500.", show_default=False),
    ] = None,
) -> None:
    """
    Add keywords, names and links to new and changed documents; a model also writes notes.

    It continues where it was stopped and skips unchanged notes. Run it after embed: links need vectors.
    """
    from clawmem.app.interfaces.cli.rendering import show, show_json, show_table

    with opened(ctx) as services:
        report = run_enrich(services, limit, anew=anew, with_model=not no_model, calls_a_day=daily_calls)
        costs = services.vault.ledger.totals()
    if wants_json(ctx):
        show_json({**record(report), "costs": costs})
        return
    show(enrich_line(report))
    if costs:
        show_table(("model", "for", "calls", "failed", "tokens", "seconds"), list(map(_row, costs)))


def run_enrich(
    services: Services,
    limit: int | None = None,
    *,
    anew: bool = False,
    with_model: bool = True,
    calls_a_day: int | None = None,
) -> EnrichReport:
    """Enrich the pending documents; report failures and runs without results on stderr."""
    from clawmem.app.interfaces.cli.progress import progress

    with progress("Enriching") as step:
        run = services.enrich(with_model=with_model, calls_a_day=calls_a_day)
        report = run(limit, anew=anew, progress=step)
        silent = services.vault.notes.counts().by_model >= SUSPICIOUS and not services.vault.triples.total()
    if report.stopped:
        typer.echo(f"degraded: enrich: {report.stopped}", err=True)
    if report.failed:
        typer.echo(f"A model made nothing of {report.failed} documents; rules did.", err=True)
    if report.by_rules >= SUSPICIOUS and not report.mentions and anew:
        typer.echo(f"Not one name was found in {report.by_rules} documents.", err=True)
    if silent:
        typer.echo("A model described the documents, and not one fact came of it.", err=True)
    return report


def enrich_line(report: EnrichReport) -> str:
    """Return the result of one run as a line."""
    if not (report.by_rules or report.by_model or report.failed):
        if report.waiting:
            why = "wait" if report.stopped else "wait for vectors; make them with: clawmem embed"
            return f"Nothing was enriched: {report.waiting} documents {why}."
        return "Nothing to do: no note has changed since it was enriched."
    done = f"{report.by_rules} documents by rules, {report.by_model} by a model"
    made = (
        f"{report.notes} notes, {report.mentions} mentions, {report.links} links, {report.triples} statements"
    )
    evolved = f", {report.evolved} notes written anew" if report.evolved else ""
    waiting = f" {report.waiting} wait." if report.waiting else ""
    return f"Enriched: {done}; new or changed: {made}{evolved}.{waiting}"


def record(report: EnrichReport) -> dict[str, object]:
    """Return the result of one run as JSON."""
    return {name: getattr(report, name) for name in report.__slots__}


def _row(cost: Cost) -> tuple[object, ...]:
    tokens = f"{cost.prompt_tokens} + {cost.answer_tokens}"
    return cost.model, cost.purpose, cost.calls, cost.failed, tokens, f"{cost.took_ms / 1000:.1f}"
