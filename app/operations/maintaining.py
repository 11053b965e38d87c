"""Maintenance of the memory: lanes, enrichment, duplicates and recommended actions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from clawmem.app.bootstrap.opening import open_copy
from clawmem.app.environment.places import CURATOR_REPORT
from clawmem.app.environment.private_files import write_whole
from clawmem.app.operations.fields import Address, Limit
from clawmem.app.operations.operation import Command, Effect, Option, Result, operation
from clawmem.app.operations.output import Part, plural, records_table
from clawmem.app.services.capture.profile import reflect as reflection_of
from clawmem.app.services.documents.records import TitledFile, titled_file
from clawmem.app.services.knowledge.enriching import EnrichReport
from clawmem.app.services.lifecycle.curator import CuratorReport
from clawmem.app.services.maintenance.lanes import summarize_run
from clawmem.domain.briefing.profile import Phrase
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.maintenance.schedule import LaneName
from clawmem.domain.security.quoting import shown_title, title_to_read
from clawmem.ports.errors import NotFound
from clawmem.ports.journal import Run, RunStatus

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.ports.records import Document
    from clawmem.ports.vault import Vault

FAILED = 1
DRY_RUN = "Dry run: nothing was written, and no model was asked."
_DOES = {
    "enrich": "looked at",
    "fail": "left for later",
    "conclude": "something follows from them",
    "merge": "the same",
    "refuse": "kept apart",
    "link": "contradict each other",
    "supersede": "contradict each other, the first one holds",
}
_FIGURES = ("score", "threshold", "method", "confidence", "by")

Runs = Annotated[Limit, Option(("-n", "--limit"), about="Number of runs.")]


class LaneRun(Result):
    """A run of one phase: its counts, ``summary`` as a sentence, and its decisions with notes and reasons."""

    id: int
    lane: str
    phase: str
    status: RunStatus
    reason: str
    started_at: str
    finished_at: str
    selected: int
    processed: int
    created: int
    rejected: int
    null_calls: int
    metrics: Mapping[str, Any]
    summary: str
    decisions: list[dict[str, Any]]


class LaneStatus(Result):
    """The lanes: their workers, whether a server runs them (``on``), the time until they are due, and the last runs."""

    workers: dict[str, str | None]
    on: list[str]
    due_s: dict[str, int]
    calls_today: int = Field(description="Calls of models today.")
    daily_calls: int
    trends: dict[str, int] = Field(description="Notes that stand for others, by trend.")
    runs: list[LaneRun]


class Journal(Result):
    """Runs, newest first. A run without work is listed with the reason."""

    runs: list[LaneRun]


class LaneReport(Result):
    """The runs of one attempt of a lane."""

    lane: LaneName
    dry_run: bool = False
    runs: list[LaneRun]

    @property
    def exit_code(self) -> int:
        """Return 1 if a run failed."""
        return FAILED if any(run.status is RunStatus.FAILED for run in self.runs) else 0


class UndoneMerge(Result):
    """The note whose merge was undone, and the notes that are served again."""

    undone: str
    restored: list[str]


def runs_of(vault: Vault, runs: Sequence[Run]) -> list[LaneRun]:
    """Return *runs* with the notes of their decisions; a forgotten note appears as its id."""
    decisions = [value for run in runs for value in run.metrics.get("decisions", ())]
    numbers = {
        number for decision in decisions for number in (*decision["documents"], decision.get("made", 0))
    }
    known = {number: document for number, document in vault.documents.many(numbers).items() if document.title}
    return [
        LaneRun(
            **asdict(run),
            summary=summarize_run(run),
            decisions=[_decision(value, known) for value in run.metrics.get("decisions", ())],
        )
        for run in runs
    ]


def _decision(decision: Mapping[str, Any], known: Mapping[int, Document]) -> dict[str, Any]:
    """Return a decision with its notes, and as a sentence: its reason, figures and number of records it produced."""
    numbers = decision["documents"]
    places = {number: known[number].display_path for number in known}
    titles = dict.fromkeys(shown_title(known[n]) if n in known else f"number {n}" for n in numbers)
    figures = [f"{name} {decision[name]}" for name in _FIGURES if name in decision]
    figures += [f"{name} {count}" for name, count in decision.get("yields", {}).items()]
    why = f"{decision['why']} ({', '.join(figures)})" if figures else decision["why"]
    made = f", now {places.get(decision['made'], decision['made'])}" if "made" in decision else ""
    does = f"{_DOES[decision['verdict']]}, {plural(len(numbers), 'note')}"
    return {
        **decision,
        "notes": [places.get(number, number) for number in numbers],
        "text": f"{' | '.join(titles)}: {does}, {why}{made}",
    }


def _status_text(result: LaneStatus) -> Iterator[Part]:
    for name, holder in result.workers.items():
        due = f", due in {result.due_s[name]} s" if name in result.on else ", off"
        yield f"{name}: {f'{holder} works' if holder else 'nobody works'}{due}"
    yield f"calls of models today: {result.calls_today} of {result.daily_calls}"
    if result.trends:
        yield f"notes that stand for others: {', '.join(f'{n} {name}' for name, n in result.trends.items())}"
    if result.runs:
        columns = "started_at=when lane phase status reason selected=seen created=made rejected=refused"
        yield from records_table(result.runs, columns)


def _journal_text(result: Journal) -> Iterator[str]:
    if not result.runs:
        yield "No lane has run yet."
    for run in result.runs:
        yield f"{run.started_at[:16].replace('T', ' ')} {run.lane} {run.summary}"
        yield from _decision_lines(run)


def report_text(result: LaneReport) -> Iterator[str]:
    """Yield the attempt as one line, then its decisions."""
    if result.dry_run:
        yield DRY_RUN
    yield f"{result.lane}: {'; '.join(run.summary for run in result.runs)}"
    for run in result.runs:
        yield from _decision_lines(run)


def _decision_lines(one: LaneRun) -> Iterator[str]:
    yield from (f"  {decision['text']}" for decision in one.decisions)
    if stopped := one.metrics.get("stopped"):
        yield f"  no model was asked any more: {stopped}"


@operation(Effect.READS, text=_status_text, commands=(Command("maintain"),), is_tool=False)
def lanes_status(services: Services, limit: Runs = 10) -> LaneStatus:
    """
    Show the lanes: workers, next runs, trends of merged notes.

    The last runs follow.
    """
    settings, vault, now_ms = services.settings.lanes, services.vault, services.clock.now_ms()
    held = {lane.value: vault.leases.current(lane.lease, now_ms=now_ms) for lane in LaneName}
    lanes = services.lanes
    return LaneStatus(
        workers={name: lease.holder if lease else None for name, lease in held.items()},
        on=[lane.value for lane in settings.hosted],
        due_s={lane.value: round(lanes.left_ms(lane) / 1000) for lane in LaneName},
        calls_today=vault.ledger.calls_on(iso_utc(now_ms)[:10]),
        daily_calls=settings.daily_calls,
        trends=services.observations.trends(now_ms),
        runs=runs_of(vault, vault.journal.runs(limit)),
    )


@operation(Effect.READS, text=_journal_text, commands=(Command("maintain", "--journal"),), is_tool=False)
def lanes_journal(
    services: Services,
    limit: Runs = 20,
    lane: Annotated[LaneName | None, Field(description="Of one lane: light or heavy.")] = None,
) -> Journal:
    """
    List the runs, newest first, with each decision and its reason.

    A run without work is listed with the reason.
    """
    return Journal(runs=runs_of(services.vault, services.vault.journal.runs(limit, lane or "")))


@operation(
    Effect.ADDS,
    text=report_text,
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

    A dry run works on a temporary copy of the vault, by rules alone.
    """
    if not dry_run:
        return LaneReport(lane=lane, runs=runs_of(services.vault, services.lanes.tick(lane, now=now)))
    with open_copy(services.settings) as copied:
        marked = [
            replace(run, metrics={**run.metrics, "dry_run": True}) for run in copied.lanes.tick(lane, now=now)
        ]
        return LaneReport(lane=lane, dry_run=True, runs=runs_of(copied.vault, marked))


@operation(
    Effect.REPEATABLE,
    text=lambda result: (
        f"{result.undone} stands for nothing any more. Served again: {', '.join(result.restored)}"
    ),
    commands=(Command("undo", "--merge"),),
    is_tool=False,
)
def lanes_undo(services: Services, note: Address) -> UndoneMerge:
    """
    Undo a merge: serve the original notes again.

    The notes are not merged again.
    """
    target = services.lookup.target(note)
    restored = services.consolidation.restore(target.id, services.caller)
    if not restored:
        raise NotFound("merge", note, remark="For the merged notes run: clawmem maintain --journal")
    return UndoneMerge(undone=target.display_path, restored=[document.display_path for document in restored])


class UsedTogether(Result):
    """Two notes, and how often they were used together."""

    files: list[str]
    count: int


class Reflection(Result):
    """Decisions of the last days, their repeated phrases, failed attempts, and notes used together."""

    days: int
    decisions: list[str]
    phrases: list[Phrase]
    antipatterns: list[TitledFile]
    together: list[UsedTogether]


class DuplicateFile(Result):
    """A note, the note that is kept, and the share of words that both contain."""

    file: str
    kept: str
    overlap: float


class ArchivedDuplicates(Result):
    """Duplicates that were archived, or would be."""

    dry_run: bool
    archived: list[DuplicateFile]


def _reflection_text(result: Reflection) -> Iterator[str]:
    yield f"{len(result.decisions)} decisions in {result.days} days"
    for phrase in result.phrases:
        yield f"  said {phrase.times} times: {phrase.text}"
    for antipattern in result.antipatterns:
        yield f"  tried in vain: {title_to_read(antipattern.title, antipattern.origin)} ({antipattern.file})"
    for pair in result.together:
        yield f"  {pair.count} times of use together: {', '.join(pair.files)}"


def _consolidation_text(result: ArchivedDuplicates) -> Iterator[str]:
    yield f"{len(result.archived)} {'would be ' if result.dry_run else ''}archived"
    for file in result.archived:
        yield f"  {file.file} says what {file.kept} says ({file.overlap:.0%} of the words)"


def _report_text(result: CuratorReport) -> Iterator[str]:
    health, found = result.health, "found" if result.retrieval["bm25Pass"] else "NOT found"
    yield f"{health['active']} notes, {health['embeddingBacklog']} texts without vectors; by words {found}"
    yield from (f"- {action}" for action in result.actions)
    if not result.actions:
        yield "Nothing has to be done."
    yield f"Written: {result.written_to}"


@operation(Effect.READS, text=_reflection_text, is_tool=False)
def reflect(
    services: Services,
    days: Annotated[
        int, Field(ge=1, le=36_500, description="Of how many days."), Option(metavar="DAYS", is_argument=True)
    ] = 14,
) -> Reflection:
    """Show repeated decisions, failed attempts, and notes used together."""
    found = reflection_of(services.vault.documents, services.vault.usage, services.clock, days)
    return Reflection(
        days=found.days,
        decisions=[document.display_path for document in found.decisions],
        phrases=found.phrases,
        antipatterns=[titled_file(document) for document in found.antipatterns],
        together=[
            UsedTogether(files=[pair.one.display_path, pair.other.display_path], count=pair.count)
            for pair in found.together
        ],
    )


@operation(
    Effect.REPEATABLE,
    text=_consolidation_text,
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
) -> ArchivedDuplicates:
    """
    Archive unsure notes that repeat another note of their collection.

    Unsure is a confidence below .4; pinned notes stay. `undo` lists the archived notes and
    restores them.
    """
    found = services.curator.duplicates(most)
    if not dry_run:
        services.curator.archive_duplicates(found, services.caller)
    files = [
        DuplicateFile(
            file=duplicate.document.display_path,
            kept=duplicate.kept.display_path,
            overlap=round(duplicate.overlap, 4),
        )
        for duplicate in found
    ]
    return ArchivedDuplicates(dry_run=dry_run, archived=files)


@operation(
    Effect.REPEATABLE,
    text=_report_text,
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
    policy = settings.archive_policy
    place = settings.vault.with_name(CURATOR_REPORT)
    report = services.curator.examine(policy, settings.collections, problems, str(place))
    write_whole(place, json.dumps(asdict(report), indent=1).encode())  # a hook may read it at this moment
    return report


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


@dataclass(frozen=True)
class Enriched(EnrichReport):
    """
    Documents enriched by rules and by a model, and the new or changed records.

    ``waiting`` documents can be enriched later, for ``failed`` ones the model gave no usable answer. ``warnings`` are
    sentences about missing results, ``costs`` those of all runs until now.
    """

    warnings: Sequence[str] = ()
    costs: Sequence[ModelCost] = ()

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
    lines = [_run_line(result)]
    for cost in result.costs:
        failed = f", {cost.failed} failed" if cost.failed else ""
        tokens = f"{cost.prompt_tokens} + {cost.answer_tokens} tokens"
        calls = f"{cost.model} for {cost.purpose}: {cost.calls} calls{failed}"
        lines.append(f"{calls}, {tokens}, {cost.took_ms / 1000:.1f} s")
    return "\n".join(lines)


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
    warnings = _warnings(services, report, anew=all)
    return Enriched(**asdict(report), warnings=warnings, costs=costs)
