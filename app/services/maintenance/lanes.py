"""
Maintenance lanes: one worker each, due by the journal, in which each run or the reason for none is recorded.

The last phase of their work draws conclusions that follow from several memories and that none of them states.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import partial
from hashlib import sha256
from typing import NamedTuple

from clawmem.app.services.capture.memories import Memories
from clawmem.app.services.knowledge.asking import Ask
from clawmem.app.services.knowledge.enriching import Enrich, EnrichReport
from clawmem.app.services.leases import WorkLease
from clawmem.app.services.maintenance.consolidation import Consolidation, ObservationSelector
from clawmem.app.services.maintenance.phase_run import PhaseRun, Verdict
from clawmem.app.services.retrieval.receipts import Retention
from clawmem.app.settings.model import LaneSettings
from clawmem.domain.capture.notes import COLLECTION, title_of
from clawmem.domain.documents.times import DAY_MS, iso_utc, parse_iso
from clawmem.domain.knowledge.triples import is_grounded
from clawmem.domain.lifecycle.policy import surfaced_stats
from clawmem.domain.maintenance import deduction, schedule
from clawmem.domain.maintenance.contradiction_gate import heuristic
from clawmem.domain.maintenance.deduction import Candidate, Draft, RejectionReason
from clawmem.domain.surfacing.turns import CONTEXT_SURFACING
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import ClawmemError, LeaseLost, VaultError, VaultLocked
from clawmem.ports.files import StopSignal
from clawmem.ports.journal import Journal, Run, RunStatus
from clawmem.ports.knowledge import Relation, RelationKind, RelationStore
from clawmem.ports.models import ModelAnswers
from clawmem.ports.records import Document, InactiveReason, Origin, Scope
from clawmem.ports.storage import Transactions
from clawmem.ports.telemetry import Receipts, Telemetry

GATE = "gate"
LOST, STOPPED = "lease_lost", "stopped"
NO_MODEL, OFF = "no_generator", "off"
BY_RULES = 100  # documents that rules enrich per tick; rules need no model calls
AT_ONCE = 200  # records per transaction of the cleanup
ROUNDS = 50  # transactions per kind of record and run
_LOOKED_AT = 5  # latest runs of a phase among which a finished one is searched
DEDUCTION = "deduction"
DEDUCTIVE = "deductive"
RELATED = 10  # relations between the sources that the judge's prompt lists


@dataclass(frozen=True, slots=True)
class Synthesis:
    """Draws conclusions from decisions, preferences, milestones and problems of the last week."""

    documents: DocumentStore
    relations: RelationStore
    transactions: Transactions
    memories: Memories
    clock: Clock
    ask: Ask | None

    def __call__(
        self,
        run: PhaseRun,
        choose: Callable[[Sequence[Document]], Sequence[Document]] = lambda documents: documents,
    ) -> PhaseRun:
        """
        Draft and judge conclusions, and store the accepted ones.

        Args:
            choose: Selects the memories to use from all eligible ones, which are sorted by time, latest first.

        Raises:
            VaultError: conclusions stored before it persist.
        """
        machine_made = self.documents.latest(Scope(frozenset({COLLECTION})))
        drawn = [note for note in machine_made if note.content_type == DEDUCTIVE]
        edges = self.relations.inbound([note.id for note in drawn], {RelationKind.SUPPORTING}, limit=1000)
        used = {edge.source for edge in edges if edge.origin == DEDUCTION}
        since = iso_utc(self.clock.now_ms() - 7 * DAY_MS)
        recent = [
            note
            for note in machine_made
            if note.content_type in deduction.TYPES and note.authored_at >= since and note.id not in used
        ]
        pool = [Candidate(note.id, self.documents.body(note.id) or "") for note in choose(recent)]
        earlier = {note.title: note.id for note in drawn[:20]}  # conclusions as document ids by title
        run.selected = len(pool)
        run.metrics = dict.fromkeys((*deduction.ACCEPTANCES, *RejectionReason), 0)
        if self.ask is None or len(pool) < deduction.LEAST_SOURCES:
            return run
        prompt = deduction.draft_prompt([candidate.text[:600] for candidate in pool])
        drafts = deduction.read_drafts(run.ask(self.ask, deduction.DRAFTS, prompt))
        run.processed = len(drafts)
        for number, draft in enumerate(drafts, start=1):
            cited = deduction.sources(draft, pool)
            ids = [candidate.document_id for candidate in cited]
            answer = None
            if deduction.draft_fault(draft, pool) is None:
                titles = {document.id: document.title for document in self.documents.many(ids).values()}
                related = [
                    f"{titles[edge.source]!r} {edge.kind} {titles[edge.target]!r}"
                    for edge in self.relations.outbound(ids, limit=RELATED)
                    if edge.target in titles
                ]
                evidence = deduction.evidence(draft.conclusion, cited)
                prompt = deduction.judge_prompt(draft, evidence, related[:RELATED])
                answer = run.ask(self.ask, deduction.JUDGE, prompt)
            outcomes = deduction.judge_draft(draft, pool, answer)
            if deduction.ACCEPTED in outcomes and deduction.is_known(draft.conclusion, list(earlier)):
                outcomes = (*outcomes, RejectionReason.KNOWN)
            for outcome in outcomes:
                run.metrics[outcome] += 1
            if isinstance(outcomes[-1], RejectionReason):
                run.decide(Verdict.REFUSE, ids, deduction.WHY[outcomes[-1]], draft=number)
            else:
                why = "the judging model says that the quoted sentences support it"
                if deduction.UNJUDGED in outcomes:
                    why = "the judging model gave no usable answer"
                self._save(draft, cited, earlier, run, why, number)
        return run

    def _save(
        self,
        draft: Draft,
        cited: Sequence[Candidate],
        earlier: dict[str, int],
        run: PhaseRun,
        why: str,
        number: int,
    ) -> None:
        """Store a draft, unless it was forgotten or one of its sources changed."""
        now, ids = iso_utc(self.clock.now_ms()), sorted(candidate.document_id for candidate in cited)
        name = sha256(draft.conclusion.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        path = f"deductions/{now[:10]}-{'-'.join(map(str, ids))}-{name}.md"
        text = "\n".join(candidate.text for candidate in cited)
        premises = tuple(premise for premise in draft.premises if is_grounded(premise, text))
        with run.effect(self.transactions):
            served = [note for note in self.documents.many(ids).values() if note.inactive is None]
            known = self.documents.at(COLLECTION, path)
            if len(served) < len(ids) or (known and known.inactive is InactiveReason.FORGOTTEN):
                why = "one of its notes changed in the meantime, or the conclusion was forgotten"
                run.decide(Verdict.REFUSE, ids, why, draft=number)
                return
            made = self.memories.write(
                path,
                title_of(draft.conclusion),
                deduction.body(
                    draft._replace(premises=premises), sorted(note.display_path for note in served)
                ),
                DEDUCTIVE,
                deduction.CONFIDENCE,
                now,
                tags=(DEDUCTIVE,),
                sources=served,
                origin=Origin.MODEL,
            )
            edges = [
                Relation(source, made, RelationKind.SUPPORTING, deduction.CONFIDENCE, DEDUCTION, now)
                for source in ids
            ]
            for title in deduction.similar_titles(draft.conclusion, list(earlier)):
                conflict, kind = heuristic(draft.conclusion, title), RelationKind.CONTRADICTS
                if conflict.contradictory and earlier[title] != made:
                    reasoning = {"reasoning": conflict.reason}
                    edges.append(
                        Relation(made, earlier[title], kind, conflict.confidence, DEDUCTION, now, reasoning)
                    )
            self.relations.put(edges)
            run.decide(Verdict.CONCLUDE, ids, why, draft=number, made=made)
        earlier[draft.conclusion] = made


class Phase(NamedTuple):
    """
    One part of a lane's work. It stores its progress in the transaction of each effect.

    ``failure`` is the reason in the journal if it fails. ``every_ms`` is the least pause after a completed run when the
    lane is ticked automatically. ``missing`` is the reason why the phase cannot run; empty if it can.
    """

    name: str
    work: Callable[[PhaseRun], object]
    failure: str
    every_ms: int = 0
    missing: str = ""


def clean_up(
    run: PhaseRun,
    telemetry: Telemetry,
    receipts: Receipts,
    answers: ModelAnswers,
    journal: Journal,
    clock: Clock,
    retention: Retention,
) -> None:
    """
    Count surfaced documents, and delete records past their retention time in small transactions.

    Args:
        retention: Retention of receipts, and of recalls, which also applies to model answers and the journal.
    """
    run.selected = len(surfaced_stats(telemetry.recalls(), CONTEXT_SURFACING))
    now_ms = clock.now_ms()
    recall_limit, receipt_limit = (iso_utc(now_ms - days * DAY_MS) for days in retention)
    for counter, trim, before in (
        ("recalls_gone", telemetry.trim, recall_limit),
        ("receipts_gone", receipts.trim, receipt_limit),
        ("answers_gone", answers.trim, recall_limit),
        ("runs_gone", journal.trim, recall_limit),
    ):
        run.metrics[counter] = 0
        with suppress(VaultLocked):  # another process is writing; the next run deletes the rest
            for _ in range(ROUNDS):
                run.check()
                deleted = trim(before, at_most=AT_ONCE)
                run.metrics[counter] += deleted
                run.save(run)
                if deleted < AT_ONCE:
                    break


@dataclass(frozen=True, slots=True)
class Phases:
    """
    The phases of each lane.

    Args:
        ask: Asks a model; ``None`` without one.
        enrich: Returns the enrichment by a model, or by rules where ``ask`` is ``None``.
    """

    observations: ObservationSelector
    clock: Clock
    plan: LaneSettings
    consolidation: Consolidation
    synthesis: Synthesis
    cleanup: Callable[[PhaseRun], None]
    ask: Ask | None
    enrich: Callable[..., Enrich]

    def of(self, lane: schedule.LaneName) -> list[Phase]:
        """Return the phases of *lane* in order."""
        minute_ms = 0 if lane is schedule.LaneName.HEAVY else 60_000
        consolidate, recalled_at = partial(self._consolidate, lane), self.observations.recalled_at
        conclude = partial(self.synthesis, choose=lambda documents: documents[:20])
        if lane is schedule.LaneName.HEAVY:
            most = self.plan.ded_limit
            conclude = partial(
                self.synthesis, choose=lambda documents: schedule.stale_first(documents, recalled_at(), most)
            )
        no_model = "" if self.ask else NO_MODEL
        phases = [
            Phase("enrich", self._enrich, "phase1_exception", missing="" if self.plan.enrich else OFF),
            Phase("consolidate", consolidate, "phase2_exception", 30 * minute_ms),
            Phase("deductive", conclude, "phase3_exception", 15 * minute_ms, no_model),
            Phase("recall", self.cleanup, "phase4_exception"),
        ]
        return phases[1:3] if lane is schedule.LaneName.HEAVY else phases

    def _enrich(self, run: PhaseRun) -> None:
        made = ("notes", "mentions", "links", "triples", "evolved")
        total = EnrichReport()

        def record(document_id: int, report: EnrichReport) -> None:
            """Record the enrichment of one document, in its transaction."""
            nonlocal total
            run.check()
            total += report
            run.processed = total.by_rules + total.by_model
            run.selected = run.processed + total.failed
            run.created = sum(getattr(total, name) for name in made)
            run.null_calls = total.failed
            run.metrics = asdict(total)
            yields = {name: number for name in made if (number := getattr(report, name))}
            verdict, why = Verdict.ENRICH, "it is new or was changed"
            if report.failed:
                verdict, why = Verdict.FAIL, "the model gave no usable answer"
            by = "rules" if report.by_rules else "model"
            run.decide(verdict, [document_id], why, by=by, yields=yields)
            run.save(run)

        run.check()
        for limit, ask in [(BY_RULES, None), *([(self.plan.enrich_limit, self.ask)] if self.ask else [])]:
            enrich = self.enrich(ask=ask)
            last = enrich(limit, newest=True, progress=lambda done, total: run.check(), tell=record)
            total = replace(total, waiting=last.waiting, stopped=last.stopped)
        run.metrics = asdict(total)

    def _consolidate(self, lane: schedule.LaneName, run: PhaseRun) -> None:
        """Consolidate the newest, or the stale or surprising observations; the heavy lane ignores the dry-run setting."""
        if lane is schedule.LaneName.LIGHT:
            run.dry_run = self.plan.dry_run
            selector, documents = self.observations.newest(self.plan.light_limit)
        elif self.plan.surprisal:
            selector, documents = self.observations.surprising(self.plan.obs_limit, run.check)
        else:
            selector, documents = self.observations.stale(self.plan.obs_limit)
        run.metrics = {"selector": selector, "dry_run": run.dry_run}
        if selector == schedule.SURPRISAL:
            run.metrics["candidateCount"] = len(documents)
        self.consolidation(documents, run)
        run.metrics["contradictions"] = len(run.decided(Verdict.LINK, Verdict.SUPERSEDE))
        run.metrics["trends"] = self.observations.trends(self.clock.now_ms())


class LaneStopped(ClawmemError):
    """The lane was asked to stop during its work."""


@dataclass(frozen=True, slots=True)
class Lanes:
    """
    Runs the lanes of a vault; any process may call it.

    Args:
        work_lease: Returns the `WorkLease` for the name of a lease and ``lease_ms``.
    """

    journal: Journal
    telemetry: Telemetry
    clock: Clock
    work_lease: Callable[..., WorkLease]
    phases: Phases
    plan: LaneSettings

    def tick(
        self,
        name: schedule.LaneName,
        *,
        now: bool = False,
        paced: bool = False,
        stops: Callable[[], bool] = lambda: False,
    ) -> list[Run]:
        """
        Run a lane once if it is permitted and no other process runs it; return the rows of the journal.

        Args:
            now: Whether the heavy lane ignores its time window and the limit of recent questions.
            paced: Whether to skip work that any process did within its interval.
            stops: Whether the lane shall stop; checked before each effect, which is then not made.

        Raises:
            VaultError: the journal cannot be written.
        """
        if name is schedule.LaneName.HEAVY and not now:
            now_ms = self.clock.now_ms()
            questions = sum(1 for _ in self.telemetry.recalls(since=iso_utc(now_ms - schedule.RECENT_MS)))
            window = schedule.Window(self.plan.window_start, self.plan.window_end)
            hour = datetime.fromtimestamp(now_ms / 1000, self.clock.zone()).hour
            if reason := schedule.gate(window, hour, questions, self.plan.max_usages):
                return [self._skip(name, GATE, reason.value)]
        lease = self.work_lease(name.lease, lease_ms=schedule.LEASE_MS)
        is_held = False
        with suppress(VaultError):  # a busy vault counts as a lease held by another process
            is_held = lease.acquire()
        if not is_held:
            return [self._skip(name, GATE, schedule.SkipReason.LEASE.value)]
        runs: list[Run] = []
        try:
            for phase in self.phases.of(name) if not (paced and self.left_ms(name)) else ():
                if not (paced and phase.every_ms and self.left_ms(name, phase.name, phase.every_ms)):
                    runs.append(self._run(name, phase, partial(check_lease, lease, stops)))
                    if runs[-1].reason in (LOST, STOPPED):
                        break
        finally:
            lease.release()
        return runs

    def left_ms(self, name: schedule.LaneName, phase: str = "", interval_ms: int = 0) -> int:
        """
        Return the milliseconds until the lane, or a *phase* of it with its own interval, is due; 0 if it is due now.

        A lane is due an interval after its last attempt, a phase after it was last completed or skipped. Entries in
        the future come from a wrong clock and delay nothing.
        """
        interval_ms = interval_ms or self.plan.interval_ms(name)
        runs = self.journal.runs(_LOOKED_AT if phase else 1, name.value, phase)
        ends = [run for run in runs if not phase or run.status in (RunStatus.COMPLETED, RunStatus.SKIPPED)]
        began = parse_iso(ends[0].started_at) if ends else None
        age = -1 if began is None else self.clock.now_ms() - began
        return interval_ms - age if 0 <= age < interval_ms else 0

    def serve(self, name: schedule.LaneName, stop: StopSignal) -> None:
        """
        Tick at the lane's interval until *stop* is set.

        If several processes serve a lane, one of them runs each tick.
        """
        while not stop.is_set():
            if not self.left_ms(name):
                self.tick(name, paced=True, stops=stop.is_set)
            stop.wait((self.left_ms(name) or self.plan.interval_ms(name)) / 1000)

    def _run(self, name: schedule.LaneName, phase: Phase, check: Callable[[], None]) -> Run:
        """Run one phase; its failure is recorded, and the next phase still runs."""
        if phase.missing:
            return self._skip(name, phase.name, phase.missing)
        begun = Run(name.value, phase.name, RunStatus.STARTED, iso_utc(self.clock.now_ms()))
        begun = replace(begun, id=self.journal.begin(begun))
        work = PhaseRun(check, lambda run: self.journal.update(run.recorded(begun)))
        try:
            phase.work(work)
            ended = replace(work.recorded(begun), status=RunStatus.COMPLETED)
        except ClawmemError as error:
            ended = self.journal.run(begun.id) or begun  # with the counters of its committed effects only
            reason = {LeaseLost: LOST, LaneStopped: STOPPED}.get(type(error), phase.failure)
            metrics = {**ended.metrics, **({"error": error.code} if reason == phase.failure else {})}
            ended = replace(ended, status=RunStatus.FAILED, reason=reason, metrics=metrics)
        ended = replace(ended, finished_at=iso_utc(self.clock.now_ms()))
        self.journal.update(ended)
        return ended

    def _skip(self, name: schedule.LaneName, phase: str, reason: str) -> Run:
        now = iso_utc(self.clock.now_ms())
        run = Run(name.value, phase, RunStatus.SKIPPED, now, reason, finished_at=now)
        return replace(run, id=self.journal.begin(run))


def check_lease(lease: WorkLease, stops: Callable[[], bool]) -> None:
    """Renew and check the lease; raise `LaneStopped` if the lane shall stop."""
    lease.renew()
    lease.check()
    if stops():
        raise LaneStopped
