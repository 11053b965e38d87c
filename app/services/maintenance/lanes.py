"""Upkeep in lanes: each has one worker at a time, and writes down what it did or why it did nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from clawmem.app.services.maintenance.lane_plan import USUAL, Plan
from clawmem.domain.capture.notes import COLLECTION
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.maintenance.schedule import LEASE_MS, RECENT_MS, LaneName, Skipped, gate
from clawmem.domain.maintenance.selection import NEWEST_FIRST, STALE_FIRST, newest_first, stale_first
from clawmem.ports.clock import Clock
from clawmem.ports.errors import ClawmemError, LeaseLost
from clawmem.ports.journal import Run, RunStatus
from clawmem.ports.records import Document, Scope
from clawmem.ports.vault import Vault

if TYPE_CHECKING:
    from clawmem.app.services.maintenance.consolidation import Consolidated, Consolidation
    from clawmem.app.services.maintenance.lane import Lane
    from clawmem.app.services.maintenance.synthesis import Synthesis
    from clawmem.ports.watcher import Stop

CONSOLIDATE, DEDUCTIVE, GATE = "consolidate", "deductive", "gate"
NO_MODEL = "no_generator"
LOST, STOPPED = "lease_lost", "stopped"
FAILURES = {CONSOLIDATE: "phase2_exception", DEDUCTIVE: "phase3_exception"}

HourOf = Callable[[int], int]  # epoch milliseconds to the hour of the local day


class Stopped(ClawmemError):
    """The lane was told to end in the middle of its work."""


class Ticked(NamedTuple):
    """One attempt of a lane: its rows in the journal, and what it merged or would have."""

    lane: LaneName
    runs: tuple[Run, ...]
    consolidated: Consolidated | None = None

    @property
    def summary(self) -> str:
        """It in one line."""
        return f"{self.lane}: {'; '.join(map(_in_words, self.runs))}"


class Lanes:
    """
    Runs the lanes of a vault, whichever process asks.

    Args:
        lane_of: The right to work in a lane, made of the name of its lease and ``lease_ms``.
        hour_of: The hour of the local day at a moment.
        synthesis: Draws conclusions; ``None`` where there is no model to do so.
    """

    def __init__(
        self,
        vault: Vault,
        clock: Clock,
        lane_of: Callable[..., Lane],
        consolidation: Consolidation,
        synthesis: Synthesis | None,
        hour_of: HourOf,
        plan: Plan = USUAL,
    ) -> None:
        self._vault = vault
        self._clock = clock
        self._lane_of = lane_of
        self._consolidation = consolidation
        self._synthesis = synthesis
        self._hour_of = hour_of
        self._plan = plan

    def tick(self, name: LaneName, *, now: bool = False, told: Callable[[], bool] = lambda: False) -> Ticked:
        """
        Let a lane work once, if it may and nobody else does.

        Args:
            now: Whether neither the hour nor the number of questions keeps the heavy lane back.
            told: Whether it shall end; looked at before each effect, which is then left undone.

        Raises:
            VaultError: the journal cannot be written.
        """
        if name is LaneName.HEAVY and not now and (why := self._gate()):
            return self._skipped(name, why)
        lane = self._lane_of(name.lease, lease_ms=LEASE_MS)
        if not lane.enter():
            return self._skipped(name, Skipped.LEASE)
        try:
            return self._worked(name, _fence(lane, told))
        finally:
            lane.leave()

    def serve(self, name: LaneName, stop: Stop, tell: Callable[[Ticked], None]) -> None:
        """Tick until *stop* is set, at the lane's own interval; *tell* hears of each tick."""
        while not stop.is_set():
            tell(self.tick(name, told=stop.is_set))
            stop.wait(name.interval_ms / 1000)

    def _gate(self) -> Skipped | None:
        now_ms = self._clock.now_ms()
        asked = sum(1 for _ in self._vault.telemetry.recalls(since=iso_utc(now_ms - RECENT_MS)))
        return gate(self._plan.window, self._hour_of(now_ms), asked, self._plan.most_questions)

    def _skipped(self, name: LaneName, why: Skipped) -> Ticked:
        now = self._now()
        run = Run(name.value, GATE, RunStatus.SKIPPED, now, why.value, finished_at=now)
        return Ticked(name, (replace(run, id=self._vault.journal.begin(run)),))

    def _worked(self, name: LaneName, fence: Callable[[], None]) -> Ticked:
        done: list[Consolidated] = []

        def consolidate() -> dict[str, Any]:
            selector, documents = self._chosen(name)
            dry = name is LaneName.LIGHT and not self._plan.light_applies
            done.append(self._consolidation(documents, dry_run=dry, fence=fence))
            return _consolidated(done[0], selector, dry_run=dry)

        runs = [self._phase(name, CONSOLIDATE, consolidate)]
        if name is LaneName.HEAVY and runs[0].reason not in (LOST, STOPPED):
            runs.append(self._deduce(name, fence))
        return Ticked(name, tuple(runs), done[0] if done else None)

    def _deduce(self, name: LaneName, fence: Callable[[], None]) -> Run:
        synthesis = self._synthesis
        if synthesis is None:
            now = self._now()
            run = Run(name.value, DEDUCTIVE, RunStatus.SKIPPED, now, NO_MODEL, finished_at=now)
            return replace(run, id=self._vault.journal.begin(run))
        return self._phase(name, DEDUCTIVE, lambda: _deduced(asdict(synthesis(fence=fence))))

    def _phase(self, name: LaneName, phase: str, work: Callable[[], dict[str, Any]]) -> Run:
        """Do one phase; its failure is written down and is no reason not to try the next one."""
        begun = Run(name.value, phase, RunStatus.STARTED, self._now())
        begun = replace(begun, id=self._vault.journal.begin(begun))
        try:
            counted = work()
            run = replace(begun, status=RunStatus.COMPLETED, **counted)
        except (LeaseLost, Stopped) as end:
            reason = LOST if isinstance(end, LeaseLost) else STOPPED
            run = replace(begun, status=RunStatus.FAILED, reason=reason)
        except ClawmemError as error:
            run = replace(
                begun, status=RunStatus.FAILED, reason=FAILURES[phase], metrics={"error": error.code}
            )
        run = replace(run, finished_at=self._now())
        self._vault.journal.finish(run)
        return run

    def _chosen(self, name: LaneName) -> tuple[str, list[Document]]:
        served = self._vault.documents.ids(Scope(frozenset({COLLECTION})), content_types=("observation",))
        documents = self._vault.documents.many(served).values()
        if name is LaneName.LIGHT:
            return NEWEST_FIRST, newest_first(documents, self._plan.light_limit)
        return STALE_FIRST, stale_first(documents, self._recalled_at(), self._plan.heavy_limit)

    def _recalled_at(self) -> dict[int, str]:
        """When each document was last given in answer: recalls come oldest first."""
        recalls = self._vault.telemetry.recalls()
        return {hit.document_id: recall.asked_at for recall in recalls for hit in recall.hits}

    def _now(self) -> str:
        return iso_utc(self._clock.now_ms())


def _fence(lane: Lane, told: Callable[[], bool]) -> Callable[[], None]:
    def fence() -> None:
        lane.keep()
        lane.check()
        if told():
            raise Stopped

    return fence


def _consolidated(done: Consolidated, selector: str, *, dry_run: bool) -> dict[str, Any]:
    rejected = sum(done.rejected.values())
    found = {"groups": len(done.groups), "contradictions": done.contradictions}
    return {
        "selected": done.considered,
        "processed": sum(len(group.members) for group in done.groups),
        "created": len(done.created),
        "rejected": rejected,
        "null_calls": done.null_calls,
        "metrics": {"selector": selector, "dry_run": dry_run, **found, "rejected": dict(done.rejected)},
    }


def _deduced(stats: Mapping[str, int]) -> dict[str, Any]:
    own = {"considered", "drafted", "created", "rejected", "nullCalls"}
    return {
        "selected": stats["considered"],
        "processed": stats["drafted"],
        "created": stats["created"],
        "rejected": stats["rejected"],
        "null_calls": stats["nullCalls"],
        "metrics": {name: count for name, count in stats.items() if name not in own},
    }


def _in_words(run: Run) -> str:
    if run.status is not RunStatus.COMPLETED:
        return f"{run.phase} {run.status}, {run.reason}"
    would = " (dry run)" if run.metrics.get("dry_run") else ""
    counted = f"{run.selected} looked at, {run.created} made, {run.rejected} refused{would}"
    return f"{run.phase}: {counted}"
