"""Phases of the lanes, and their results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from clawmem.app.services.capture.memories import Memories
from clawmem.app.services.knowledge.asking import Ask
from clawmem.app.services.knowledge.enriching import Enrich, EnrichReport
from clawmem.app.services.knowledge.model_enrichment import KnowledgeStores
from clawmem.app.services.maintenance.deciding import (
    Decisions,
    Fence,
    ObservationSelection,
    ObservationSelector,
    Verdict,
)
from clawmem.app.services.maintenance.synthesis import Choose, Synthesis
from clawmem.app.settings.model import LaneSettings
from clawmem.domain.documents.times import parse_iso
from clawmem.domain.maintenance import patterns
from clawmem.domain.maintenance.patterns import CONSOLIDATED, Trend, trend
from clawmem.domain.maintenance.schedule import LaneName
from clawmem.domain.maintenance.selection import stale_first
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore
from clawmem.ports.records import Document

if TYPE_CHECKING:
    from clawmem.app.services.maintenance.consolidation import Consolidation, ConsolidationReport
    from clawmem.app.services.maintenance.tidying import Cleanup, CleanupReport
    from clawmem.domain.maintenance.deduction import Stats


LIGHT_DEDUCTION_LIMIT = 20  # documents per tick of the light lane
NEW = "it is new or was changed"
GAVE_UP = "the model gave no usable answer"
_MADE = ("notes", "mentions", "links", "triples", "evolved")


class PhaseResult(NamedTuple):
    """Counters and metrics of one phase for the journal."""

    selected: int = 0
    processed: int = 0
    created: int = 0
    rejected: int = 0
    null_calls: int = 0
    metrics: Mapping[str, Any] = {}


Tell = Callable[[PhaseResult], None]


class EnrichmentProgress:
    """Running total of an enrichment, reported in the transaction of each document."""

    def __init__(self, tell: Callable[[], None], fence: Fence) -> None:
        self._tell = tell
        self._fence = fence
        self.report: EnrichReport | None = None
        self.decisions = Decisions()

    def progress(self, done: int, total: int) -> None:
        """Check the fence between two documents."""
        self._fence()

    def tell(self, document_id: int, report: EnrichReport) -> None:
        """Add the report of one document and pass the total on, in the transaction of that document."""
        self._fence()
        self.report = self.report + report if self.report else report
        counted = {name: count for name, count in asdict(report).items() if count and name in _MADE}
        verdict, why = (Verdict.FAIL, GAVE_UP) if report.failed else (Verdict.ENRICH, NEW)
        by = "rules" if report.by_rules else "model"
        self.decisions.add(verdict, [document_id], why, by=by, yields=counted)
        self._tell()


def enriched(account: EnrichmentProgress, whole: EnrichReport | None = None) -> PhaseResult:
    """Return the result of the enrichment so far, or of the *whole* run if given."""
    report = whole or account.report
    assert report is not None, "it is told after a document was done"
    done = report.by_rules + report.by_model
    made = sum(getattr(report, name) for name in _MADE)
    metrics = {**asdict(report), **account.decisions.in_journal()}
    return PhaseResult(done + report.failed, done, made, null_calls=report.failed, metrics=metrics)


def consolidating(chosen: ObservationSelection, decisions: Decisions) -> PhaseResult:
    """Return the result of a consolidation so far."""
    made, refused = decisions.count(Verdict.MERGE), decisions.count(Verdict.REFUSE)
    changed = decisions.count(Verdict.MERGE, Verdict.LINK, Verdict.SUPERSEDE)
    about = {**chosen.told, "dry_run": False, **decisions.in_journal()}
    return PhaseResult(len(chosen.documents), changed, made, refused, metrics=about)


def deduced(stats: Stats, decisions: Decisions) -> PhaseResult:
    """Return the counters of a run's drafts and the decision about each."""
    own = ("considered", "drafted", "created", "rejected", "nullCalls")
    others = {name: count for name, count in asdict(stats).items() if name not in own}
    metrics = {**others, **decisions.in_journal()}
    return PhaseResult(
        stats.considered, stats.drafted, stats.created, stats.rejected, stats.nullCalls, metrics=metrics
    )


def tidied(told: CleanupReport) -> PhaseResult:
    """Return the result of a cleanup."""
    return PhaseResult(selected=told.documents, processed=told.changed, metrics=told._asdict())


def consolidated(found: ConsolidationReport, about: Mapping[str, Any]) -> PhaseResult:
    """Return the result of a whole consolidation run."""
    rejected = found.rejected
    counted = {
        "groups": len(found.groups),
        "contradictions": found.contradictions,
        "rejected": dict(rejected),
    }
    stopped = {"stopped": found.stopped} if found.stopped else {}
    return PhaseResult(
        found.considered,
        sum(len(group.members) for group in found.groups),
        len(found.created),
        sum(rejected.values()),
        found.null_calls,
        {**about, **counted, **stopped, **found.decisions.in_journal()},
    )


class ObservationTrend(NamedTuple):
    """A consolidated document with the number of its occasions, the first and last day, and its trend."""

    document: Document
    times: int
    first: str
    last: str
    trend: Trend


def trends(store: DocumentStore, documents: Iterable[Document], now_ms: int) -> list[ObservationTrend]:
    """Return the trends of the consolidated ones among *documents*, in their order."""
    consolidated = (document for document in documents if patterns.CONSOLIDATED in document.tags)
    return [_trending(store, document, now_ms) for document in consolidated]


def _trending(documents: DocumentStore, document: Document, now_ms: int) -> ObservationTrend:
    occasions = patterns.occurrences_of(document, documents.body(document.id) or "")
    days = sorted(occurrence.day for occurrence in occasions) or [document.authored_at[:10]]
    first, last = (now_ms if (ms := parse_iso(day)) is None else ms for day in (days[0], days[-1]))
    return ObservationTrend(document, len(days), days[0], days[-1], trend(first, last, len(days), now_ms))


ENRICH, CONSOLIDATE, DEDUCTIVE, RECALL = "enrich", "consolidate", "deductive", "recall"
NO_MODEL, OFF = "no_generator", "off"
BY_RULES = 100  # documents that rules enrich per tick; rules need no model calls
_MINUTE_MS = 60_000


class Phase(NamedTuple):
    """
    One part of a lane's work. It reports its progress in the transaction of each effect.

    ``every_ms`` is the least pause after a completed run when the lane is ticked automatically. ``missing`` is the
    reason why the phase cannot run; empty if it can.
    """

    name: str
    work: Callable[[Fence, Tell], PhaseResult]
    every_ms: int = 0
    missing: str = ""


@dataclass(frozen=True, slots=True)
class Phases:
    """
    The phases of each lane.

    Args:
        synthesis: Draws conclusions; ``None`` without a model.
        by_rules, by_model: Enrich documents; ``None`` where enrichment is off or there is no model.
    """

    documents: DocumentStore
    selector: ObservationSelector
    clock: Clock
    plan: LaneSettings
    consolidation: Consolidation
    tidy: Cleanup
    synthesis: Synthesis | None = None
    by_rules: Enrich | None = None
    by_model: Enrich | None = None

    def of(self, lane: LaneName) -> list[Phase]:
        """Return the phases of *lane* in order."""
        no_model = "" if self.synthesis else NO_MODEL
        if lane is LaneName.HEAVY:
            return [
                Phase(CONSOLIDATE, self._consolidate_stale),
                Phase(DEDUCTIVE, self._deduce_stale, missing=no_model),
            ]
        return [
            Phase(ENRICH, self._enrich, missing="" if self.by_rules else OFF),
            Phase(CONSOLIDATE, self._consolidate_newest, 30 * _MINUTE_MS),
            Phase(DEDUCTIVE, self._deduce_newest, 15 * _MINUTE_MS, no_model),
            Phase(RECALL, self._recall),
        ]

    def _enrich(self, fence: Fence, tell: Tell) -> PhaseResult:
        assert self.by_rules is not None, "else it is off"
        fence()
        account = EnrichmentProgress(lambda: tell(enriched(account)), fence)
        report = self.by_rules(BY_RULES, newest=True, progress=account.progress, tell=account.tell)
        if self.by_model:
            limit = self.plan.enrich_limit
            more = self.by_model(limit, newest=True, progress=account.progress, tell=account.tell)
            report = replace(report + more, waiting=more.waiting, stopped=more.stopped)
        return enriched(account, report)

    def _consolidate_newest(self, fence: Fence, tell: Tell) -> PhaseResult:
        chosen = self.selector.newest(self.plan.light_limit)
        return self._consolidated(chosen, fence, tell, dry_run=self.plan.dry_run)

    def _consolidate_stale(self, fence: Fence, tell: Tell) -> PhaseResult:
        """Consolidate the stale or surprising observations; this lane ignores the dry-run setting."""
        limit = self.plan.obs_limit
        chosen = self.selector.surprising(limit, fence) if self.plan.surprisal else self.selector.stale(limit)
        return self._consolidated(chosen, fence, tell, dry_run=False)

    def _consolidated(
        self, chosen: ObservationSelection, fence: Fence, tell: Tell, *, dry_run: bool
    ) -> PhaseResult:
        found = self.consolidation(
            chosen.documents,
            dry_run=dry_run,
            fence=fence,
            among=chosen.among,
            tell=lambda decisions: tell(consolidating(chosen, decisions)),
        )
        standing = (document.id for document in chosen.among if CONSOLIDATED in document.tags)
        served = self.documents.many([*standing, *found.created]).values()
        still = (document for document in served if document.inactive is None)
        counted = Counter(trend.trend.value for trend in trends(self.documents, still, self.clock.now_ms()))
        about = {**chosen.told, "dry_run": dry_run, "trends": dict(counted)}
        return consolidated(found, about)

    def _deduce_newest(self, fence: Fence, tell: Tell) -> PhaseResult:
        return self._deduced(lambda documents: documents[:LIGHT_DEDUCTION_LIMIT], fence, tell)

    def _deduce_stale(self, fence: Fence, tell: Tell) -> PhaseResult:
        recalled = self.selector.recalled_at()
        return self._deduced(
            lambda documents: stale_first(documents, recalled, self.plan.ded_limit), fence, tell
        )

    def _deduced(self, choose: Choose, fence: Fence, tell: Tell) -> PhaseResult:
        assert self.synthesis is not None, "else it is missing"
        done = PhaseResult()

        def told(stats: Stats, decisions: Decisions) -> None:
            nonlocal done
            done = deduced(stats, decisions)
            tell(done)

        stats = self.synthesis(choose, fence=fence, tell=told)
        return done if stats.drafted else deduced(stats, Decisions())

    def _recall(self, fence: Fence, tell: Tell) -> PhaseResult:
        return tidied(self.tidy(fence, lambda told: tell(tidied(told))))


def phases_of(
    knowledge: KnowledgeStores,
    memories: Memories,
    observations: ObservationSelector,
    clock: Clock,
    plan: LaneSettings,
    consolidation: Consolidation,
    cleanup: Cleanup,
    ask: Ask | None,
) -> Phases:
    """Return the phases of *plan*; those that need a model are left out without *ask*."""
    synthesis = (
        Synthesis(
            knowledge.documents,
            knowledge.relations,
            knowledge.transactions,
            memories,
            clock,
            ask,
        )
        if ask
        else None
    )
    return Phases(
        knowledge.documents,
        observations,
        clock,
        plan,
        consolidation,
        cleanup,
        synthesis=synthesis,
        by_rules=Enrich(knowledge, clock) if plan.enrich else None,
        by_model=Enrich(knowledge, clock, ask) if ask and plan.enrich else None,
    )
