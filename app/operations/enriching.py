"""The enrichment of documents with keywords, names, links and facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from clawmem.app.operations.operation import Command, Effect, Option, Result, operation
from clawmem.app.operations.output import plural

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.services.knowledge.enriching import EnrichReport

SUSPICIOUS = 20  # from this number of documents on, a run without any name or fact causes a warning


class ModelCost(Result):
    """Total cost of the calls of a model for a purpose; ``calls`` includes the failed ones."""

    model: str
    purpose: str
    calls: int
    failed: int
    prompt_tokens: int
    answer_tokens: int
    took_ms: int


class Enriched(Result):
    """
    Documents enriched by rules and by a model, and the new or changed records.

    ``waiting`` documents can be enriched later, for ``failed`` ones the model gave no usable answer.
    """

    by_rules: int
    by_model: int
    notes: int
    mentions: int
    links: int
    triples: int
    evolved: int
    failed: int
    waiting: int
    stopped: str = Field(description="Why no model was asked any more; empty without a reason.")
    warnings: list[str] = Field(description="Sentences about missing results.")
    costs: list[ModelCost] = Field(description="The costs of all runs until now.")

    @property
    def remarks(self) -> Sequence[str]:
        """Return the warnings."""
        return self.warnings


def _warnings(services: Services, report: EnrichReport, *, anew: bool) -> list[str]:
    sentences = [f"degraded: enrich: {report.stopped}"] if report.stopped else []
    if report.failed:
        sentences.append(
            f"The model gave no usable answer for {plural(report.failed, 'document')}; rules were used."
        )
    if report.by_rules >= SUSPICIOUS and not report.mentions and anew:
        sentences.append(f"No name was found in {plural(report.by_rules, 'document')}.")
    if services.vault.notes.counts().by_model >= SUSPICIOUS and not services.vault.triples.total():
        sentences.append("A model described the documents, but stored no fact.")
    return sentences


def enriched_text(result: Enriched) -> str:
    """Return the results of a run, and the costs of the models."""
    return "\n".join([_run_line(result), *map(_cost_line, result.costs)])


def _run_line(result: Enriched) -> str:
    if not (result.by_rules or result.by_model or result.failed):
        if result.waiting:
            why = "" if result.stopped else " for vectors; make them with: clawmem embed"
            wait = "waits" if result.waiting == 1 else "wait"
            return f"Nothing was enriched: {plural(result.waiting, 'document')} {wait}{why}."
        return "Nothing to do: no note has changed since it was enriched."
    done = f"{plural(result.by_rules, 'document')} by rules, {result.by_model} by a model"
    counts = (
        (result.notes, "note"),
        (result.mentions, "mention"),
        (result.links, "link"),
        (result.triples, "statement"),
    )
    made = ", ".join(plural(count, noun) for count, noun in counts)
    evolved = f", {plural(result.evolved, 'note')} rewritten" if result.evolved else ""
    waiting = f" {result.waiting} wait." if result.waiting else ""
    return f"Enriched: {done}; new or changed: {made}{evolved}.{waiting}"


def _cost_line(one: ModelCost) -> str:
    failed = f", {one.failed} failed" if one.failed else ""
    tokens = f"{one.prompt_tokens} + {one.answer_tokens} tokens"
    return f"{one.model} for {one.purpose}: {one.calls} calls{failed}, {tokens}, {one.took_ms / 1000:.1f} s"


@operation(
    Effect.REPEATABLE,
    text=enriched_text,
    route="/enrich",
    commands=(Command("maintain", "WORK=enrich"),),
    is_tool=False,
)
def enrich(
    services: Services,
    limit: Annotated[
        int | None, Field(ge=1, description="At most so many documents."), Option(("-n", "--limit"))
    ] = None,
    all: Annotated[bool, Field(description="Also notes that another model described, and failed ones.")] = (
        False
    ),
    no_model: Annotated[bool, Field(description="Use rules alone."), Option(("--no-model",))] = False,
    daily_calls: Annotated[
        int | None, Field(ge=0, description="At most so many calls of a model a day; by default 500.")
    ] = None,
) -> Enriched:
    """
    Add keywords, names and links to new and changed documents.

    A model also writes notes and facts. A run continues where the last one was stopped, and skips unchanged documents.
    Run it after embed: links need vectors.
    """
    with services.progress("Enriching") as step:
        calls = {"calls_a_day": daily_calls} if daily_calls is not None else {}
        enrich_documents = services.enrich(ask=None if no_model else services.ask_of(**calls))
        report = enrich_documents(limit, anew=all, progress=step)
    costs = [
        ModelCost(**{name: getattr(cost, name) for name in ModelCost.model_fields})
        for cost in services.vault.ledger.totals()
    ]
    return Enriched(**asdict(report), warnings=_warnings(services, report, anew=all), costs=costs)
