"""What a lane does, phase by phase, and how it is counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from clawmem.app.services.maintenance.choosing import Choosing, Chosen
from clawmem.app.services.maintenance.lane_plan import Plan
from clawmem.app.services.maintenance.trends import trends
from clawmem.domain.maintenance.patterns import CONSOLIDATED
from clawmem.domain.maintenance.schedule import LaneName
from clawmem.domain.maintenance.selection import stale_first
from clawmem.ports.clock import Clock
from clawmem.ports.records import Document
from clawmem.ports.vault import Vault

if TYPE_CHECKING:
    from clawmem.app.services.knowledge.enriching import Enrich, EnrichReport
    from clawmem.app.services.maintenance.careful_asking import Fence
    from clawmem.app.services.maintenance.consolidation import Consolidated, Consolidation
    from clawmem.app.services.maintenance.synthesis import Synthesis
    from clawmem.app.services.maintenance.tidying import Tidy

ENRICH, CONSOLIDATE, DEDUCTIVE, RECALL = "enrich", "consolidate", "deductive", "recall"
NO_MODEL, OFF = "no_generator", "off"
BY_RULES = 100  # documents that rules enrich in one tick; they cost nothing but time
_MINUTE_MS = 60_000


class Done(NamedTuple):
    """What one phase did, as the journal counts it."""

    selected: int = 0
    processed: int = 0
    created: int = 0
    rejected: int = 0
    null_calls: int = 0
    metrics: Mapping[str, Any] = {}


class Phase(NamedTuple):
    """
    One part of a lane's work.

    ``every_ms`` is how long it rests after it was completed, where the lane ticks by itself. ``missing`` says why it
    cannot be done at all, empty when it can.
    """

    name: str
    work: Callable[[Fence], Done]
    every_ms: int = 0
    missing: str = ""


class Phases:
    """
    The phases of each lane.

    Args:
        synthesis: Draws conclusions; ``None`` where there is no model to do so.
        by_rules, by_model: Enrich documents; ``None`` where that is off, or where there is no model.
    """

    def __init__(
        self,
        vault: Vault,
        clock: Clock,
        plan: Plan,
        consolidation: Consolidation,
        tidy: Tidy,
        *,
        synthesis: Synthesis | None = None,
        by_rules: Enrich | None = None,
        by_model: Enrich | None = None,
    ) -> None:
        self._vault = vault
        self._clock = clock
        self._plan = plan
        self._consolidation = consolidation
        self._tidy = tidy
        self._synthesis = synthesis
        self._by_rules = by_rules
        self._by_model = by_model
        self._choosing = Choosing(vault)

    def of(self, lane: LaneName) -> list[Phase]:
        """The phases of *lane*, in their order."""
        no_model = "" if self._synthesis else NO_MODEL
        if lane is LaneName.HEAVY:
            return [
                Phase(CONSOLIDATE, self._consolidate_stale),
                Phase(DEDUCTIVE, self._deduce_stale, missing=no_model),
            ]
        return [
            Phase(ENRICH, self._enrich, missing="" if self._by_rules else OFF),
            Phase(CONSOLIDATE, self._consolidate_newest, 30 * _MINUTE_MS),
            Phase(DEDUCTIVE, self._deduce_newest, 15 * _MINUTE_MS, no_model),
            Phase(RECALL, self._recall),
        ]

    def _enrich(self, fence: Fence) -> Done:
        assert self._by_rules is not None, "else it is off"
        fence()
        report = self._by_rules(BY_RULES, newest=True, progress=lambda done, total: fence())
        if self._by_model:
            limit = self._plan.enrich_limit
            more = self._by_model(limit, newest=True, progress=lambda done, total: fence())
            report = replace(report + more, waiting=more.waiting, stopped=more.stopped)
        return _enriched(report)

    def _consolidate_newest(self, fence: Fence) -> Done:
        return self._consolidated(
            self._choosing.newest(self._plan.light_limit), fence, dry_run=self._plan.dry_run
        )

    def _consolidate_stale(self, fence: Fence) -> Done:
        """Whatever the plan says of dry runs, this lane works in earnest."""
        limit = self._plan.heavy_limit
        chosen = (
            self._choosing.surprising(limit, fence) if self._plan.surprisal else self._choosing.stale(limit)
        )
        return self._consolidated(chosen, fence, dry_run=False)

    def _consolidated(self, chosen: Chosen, fence: Fence, *, dry_run: bool) -> Done:
        found = self._consolidation(chosen.documents, dry_run=dry_run, fence=fence, among=chosen.among)
        standing = (one.id for one in chosen.among if CONSOLIDATED in one.tags)
        served = self._vault.documents.many([*standing, *found.created]).values()
        still = (one for one in served if one.inactive is None)
        counted = Counter(one.trend.value for one in trends(self._vault, still, self._clock.now_ms()))
        about = {"selector": chosen.selector, "dry_run": dry_run, "trends": dict(counted)}
        return _consolidated(found, about)

    def _deduce_newest(self, fence: Fence) -> Done:
        return self._deduced(lambda documents: documents[: self._plan.light_deduction_limit], fence)

    def _deduce_stale(self, fence: Fence) -> Done:
        recalled = self._choosing.recalled_at()
        return self._deduced(
            lambda documents: stale_first(documents, recalled, self._plan.deduction_limit), fence
        )

    def _deduced(self, choose: Callable[[Sequence[Document]], Sequence[Document]], fence: Fence) -> Done:
        assert self._synthesis is not None, "else it is missing"
        stats = asdict(self._synthesis(choose, fence=fence))
        own = {"considered", "drafted", "created", "rejected", "nullCalls"}
        return Done(
            stats["considered"],
            stats["drafted"],
            stats["created"],
            stats["rejected"],
            stats["nullCalls"],
            {name: count for name, count in stats.items() if name not in own},
        )

    def _recall(self, fence: Fence) -> Done:
        tidied = self._tidy(fence)
        return Done(selected=tidied.documents, processed=tidied.changed, metrics=tidied._asdict())


def _enriched(report: EnrichReport) -> Done:
    done = report.by_rules + report.by_model
    made = report.notes + report.mentions + report.links + report.triples + report.evolved
    return Done(done + report.failed, done, made, null_calls=report.failed, metrics=asdict(report))


def _consolidated(found: Consolidated, about: Mapping[str, Any]) -> Done:
    rejected = found.rejected
    counted = {
        "groups": len(found.groups),
        "contradictions": found.contradictions,
        "rejected": dict(rejected),
    }
    stopped = {"stopped": found.stopped} if found.stopped else {}
    return Done(
        found.considered,
        sum(len(group.members) for group in found.groups),
        len(found.created),
        sum(rejected.values()),
        found.null_calls,
        {**about, **counted, **stopped, **found.decisions.in_journal()},
    )
