"""Results of maintenance phases in the form that the journal stores, during a phase and at its end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

from clawmem.app.services.maintenance.deciding import Decisions, Verdict

if TYPE_CHECKING:
    from clawmem.app.services.knowledge.enriching import EnrichReport
    from clawmem.app.services.maintenance.choosing import ObservationSelection
    from clawmem.app.services.maintenance.consolidation import ConsolidationReport
    from clawmem.app.services.maintenance.deciding import Fence
    from clawmem.app.services.maintenance.tidying import CleanupReport
    from clawmem.domain.maintenance.deduction import Stats

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
