"""Maintenance of the memory: lanes, enrichment, duplicates and recommended actions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from clawmem.app.bootstrap.opening import open_copy
from clawmem.app.environment.places import CURATOR_REPORT
from clawmem.app.environment.private_files import write_whole
from clawmem.app.operations.fields import Address, Limit
from clawmem.app.operations.operation import Command, Effect, Option, Result, operation
from clawmem.app.operations.output import Part, counts_text, fields_text, records_table
from clawmem.app.services.capture.briefing import Reflection
from clawmem.app.services.capture.briefing import reflect as reflection_of
from clawmem.app.services.documents.records import TitledFile, titled_file
from clawmem.app.services.knowledge.enriching import EnrichReport
from clawmem.app.services.lifecycle.curator import CuratorReport
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.maintenance.schedule import LaneName
from clawmem.ports.errors import NotFound
from clawmem.ports.journal import Run, RunStatus
from clawmem.ports.models import Cost

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.ports.vault import Vault

_FIGURES = ("score", "threshold", "method", "confidence", "by", "made")


class LaneStatus(Result):
    """
    The lanes: their workers, whether a server runs them (``on``), the time until they are due, and the last runs.

    ``trends`` counts the notes that stand for others; ``costs`` are the sums of all calls of models.
    """

    workers: dict[str, str | None]
    on: list[str]
    due_in_seconds: dict[str, int]
    calls_today: int
    daily_calls: int
    trends: dict[str, int]
    costs: list[Cost]
    runs: list[Run]


class LaneReport(Result):
    """The runs of one attempt of a lane."""

    runs: list[Run]

    @property
    def exit_code(self) -> int:
        """Return 1 if a run failed."""
        return int(any(run.status is RunStatus.FAILED for run in self.runs))


def with_notes(vault: Vault, runs: Sequence[Run]) -> list[Run]:
    """Return *runs* whose decisions name their notes, and what was ``made``; a forgotten note has a number."""
    decisions = [decision for run in runs for decision in run.metrics.get("decisions", ())]
    numbers = {
        number for decision in decisions for number in (*decision["documents"], decision.get("made", 0))
    }
    places = {
        number: document.display_path
        for number, document in vault.documents.many(numbers).items()
        if document.title
    }

    def named(decision: Mapping[str, Any]) -> dict[str, Any]:
        notes = [places.get(number, f"number {number}") for number in decision["documents"]]
        made = {"made": places.get(decision["made"], decision["made"])} if "made" in decision else {}
        return {**decision, **made, "notes": notes}

    return [
        replace(run, metrics={**run.metrics, "decisions": [*map(named, run.metrics.get("decisions", ()))]})
        for run in runs
    ]


def _runs_text(runs: Sequence[Run]) -> Iterator[Part]:
    """Yield a table of *runs*, then their decisions."""
    if runs:
        yield from records_table(
            runs,
            "started_at=when lane phase status reason selected=seen created=made rejected=refused "
            "metrics.dry_run=dry_run metrics.stopped=stopped",
        )
    for decision in (decision for run in runs for decision in run.metrics.get("decisions", ())):
        if notes := decision.get("notes"):
            figures = {name: decision[name] for name in _FIGURES if name in decision} | decision.get(
                "yields", {}
            )
            why = ", ".join([decision["why"], *(f"{name} {value}" for name, value in figures.items())])
            yield f"  {decision['verdict']}: {' | '.join(notes)}: {why}"


def _status_text(result: LaneStatus) -> Iterator[Part]:
    yield from fields_text(result.model_dump(mode="json", exclude={"costs", "runs"}))
    if result.costs:
        yield from records_table(
            result.costs, "model purpose calls failed prompt_tokens answer_tokens took_ms=ms"
        )
    yield from _runs_text(result.runs)


@operation(
    Effect.READS,
    text=_status_text,
    commands=(
        Command("maintain", fixed={"journal": False}),
        Command(
            "maintain",
            "--journal",
            fixed={"journal": True},
            defaults={"limit": 20},
            about="List the last runs with each decision and its reason.",
        ),
    ),
    is_tool=False,
)
def lanes_status(
    services: Services,
    limit: Annotated[Limit, Option(("-n", "--limit"), about="Number of runs.")] = 10,
    lane: Annotated[LaneName | None, Field(description="Runs of one lane: light or heavy.")] = None,
    journal: Annotated[bool, Field(description="The runs with their decisions.")] = False,
) -> LaneStatus:
    """Show the lanes: workers, next runs, trends of merged notes, costs of models, and the last runs."""
    settings, vault, now_ms = services.settings.lanes, services.vault, services.clock.now_ms()
    leases = {name.value: vault.leases.current(name.lease, now_ms=now_ms) for name in LaneName}
    runs = vault.journal.runs(limit, lane or "")
    return LaneStatus(
        workers={name: lease and lease.holder for name, lease in leases.items()},
        on=[name.value for name in settings.hosted],
        due_in_seconds={name.value: round(services.lanes.left_ms(name) / 1000) for name in LaneName},
        calls_today=vault.ledger.calls_on(iso_utc(now_ms)[:10]),
        daily_calls=settings.daily_calls,
        trends=services.observations.trends(now_ms),
        costs=vault.ledger.totals(),
        runs=with_notes(vault, runs) if journal else runs,
    )


@operation(
    Effect.ADDS,
    text=lambda result: _runs_text(result.runs),
    commands=(
        Command("maintain", "WORK=light", fixed={"lane": "light"}, repeats=True),
        Command(
            "maintain",
            "WORK=heavy",
            fixed={"lane": "heavy"},
            repeats=True,
            about="Do the large work of quiet times.",
        ),
    ),
    only_reads=lambda request: request.dry_run,
    is_tool=False,
)
def lanes_run(
    services: Services,
    lane: Annotated[
        LaneName, Field(description="light: small work often; heavy: large work at quiet times.")
    ],
    now: Annotated[
        bool, Field(description="Run outside of the quiet hours and while questions are asked.")
    ] = False,
    dry_run: Annotated[bool, Field(description="Show the effects of the rules; write nothing.")] = False,
) -> LaneReport:
    """
    Run a lane once, unless another process works in it.

    A dry run works on a temporary copy of the vault, by rules alone: no model is asked.
    """
    if not dry_run:
        return LaneReport(runs=with_notes(services.vault, services.lanes.tick(lane, now=now)))
    with open_copy(services.settings) as copied:
        runs = [
            replace(run, metrics={**run.metrics, "dry_run": True}) for run in copied.lanes.tick(lane, now=now)
        ]
        return LaneReport(runs=with_notes(copied.vault, runs))


@operation(
    Effect.REPEATABLE,
    columns="file title",
    items="restored",
    commands=(Command("undo", "--merge"),),
    is_tool=False,
)
def lanes_undo(services: Services, note: Address) -> list[TitledFile]:
    """Undo a merge: serve the original notes again, which are not merged again."""
    restored = services.consolidation.restore(services.lookup.target(note).id, services.caller)
    if not restored:
        raise NotFound("merge", note, remark="For the merged notes run: clawmem maintain --journal")
    return [titled_file(document) for document in restored]


def _reflection_text(result: Reflection) -> Iterator[Part]:
    yield f"{len(result.decisions)} decisions in {result.days} days"
    for records, columns in (
        (result.phrases, "times text=phrase"),
        (result.antipatterns, "file title=tried_in_vain"),
        (result.together, "count one=used_together other"),
    ):
        if records:
            yield from records_table(records, columns)


@operation(Effect.READS, text=_reflection_text, is_tool=False)
def reflect(
    services: Services,
    days: Annotated[
        int, Field(ge=1, le=36_500, description="Of how many days."), Option(metavar="DAYS", is_argument=True)
    ] = 14,
) -> Reflection:
    """Show repeated decisions, failed attempts, and notes used together."""
    return reflection_of(services.vault.documents, services.vault.usage, services.clock, days)


class DuplicateFile(Result):
    """A note, the note that is kept, and the share of words that both contain."""

    file: str
    kept: str
    share_of_words: float


@operation(
    Effect.REPEATABLE,
    columns="file kept share_of_words",
    empty="No unsure note repeats another one.",
    items="archived",
    commands=(Command("maintain", "WORK=consolidate"),),
    is_tool=False,
)
def consolidate(
    services: Services,
    most: Annotated[
        int,
        Field(ge=1, le=10_000, description="Number of uncertain notes to examine."),
        Option(metavar="MOST", is_argument=True),
    ] = 50,
    dry_run: Annotated[bool, Field(description="Only name them."), Option(("--dry-run",))] = False,
) -> list[DuplicateFile]:
    """
    Archive unsure notes that repeat another note of their collection, and list them.

    Unsure is a confidence below .4; pinned notes stay. `undo` lists the archived notes and
    restores them.
    """
    duplicates = services.curator.duplicates(most)
    if not dry_run:
        services.curator.archive_duplicates(duplicates, services.caller)
    return [
        DuplicateFile(file=document.display_path, kept=kept.display_path, share_of_words=round(overlap, 4))
        for document, kept, overlap in duplicates
    ]


@operation(
    Effect.REPEATABLE,
    text=lambda result: [*result.actions, f"Written: {result.written_to}"],
    commands=(Command("maintain", "WORK=curate"),),
    is_tool=False,
    any_vault=False,
)
def curate(services: Services) -> CuratorReport:
    """Examine the memory and write a report with next steps; the hook curator-nudge passes it to the next session."""
    settings = services.settings
    problems = [
        f"{check.check}: {check.detail} {check.way_out}" for check in services.doctor() if not check.ok
    ]
    place = settings.vault.with_name(CURATOR_REPORT)
    report = services.curator.examine(settings.archive_policy, settings.collections, problems, str(place))
    write_whole(place, json.dumps(asdict(report), indent=1).encode())  # a hook may read it at this moment
    return report


@operation(
    Effect.REPEATABLE,
    text=lambda result: [*counts_text(result)] or "Nothing to do: no note has changed since it was enriched.",
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
) -> EnrichReport:
    """
    Add keywords, names and links to new and changed documents.

    A model also writes notes and facts. A run continues where the last one was stopped, and skips unchanged documents.
    Run it after embed: links need vectors.
    """
    with services.progress("Enriching") as step:
        work = services.enrich(ask=None if no_model else services.ask)
        return work(limit, anew=all, progress=step)
