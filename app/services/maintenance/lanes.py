"""Maintenance lanes: one worker each, due by the journal, in which each run or the reason for none is recorded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from clawmem.app.settings.model import LaneSettings
from clawmem.domain.documents.times import iso_utc, parse_iso
from clawmem.domain.maintenance.schedule import (
    LEASE_MS,
    RECENT_MS,
    LaneName,
    SkipReason,
    Window,
    gate,
)
from clawmem.ports.clock import Clock
from clawmem.ports.errors import ClawmemError, LeaseLost, VaultError
from clawmem.ports.journal import Journal, Run, RunStatus
from clawmem.ports.telemetry import Telemetry

if TYPE_CHECKING:
    from clawmem.app.services.maintenance.deciding import Fence
    from clawmem.app.services.maintenance.lane import Lane
    from clawmem.app.services.maintenance.phases import Phase, PhaseResult, Phases
    from clawmem.ports.files import StopSignal

GATE = "gate"
LOST, STOPPED = "lease_lost", "stopped"
FAILURES = {
    "enrich": "phase1_exception",
    "consolidate": "phase2_exception",
    "deductive": "phase3_exception",
    "recall": "phase4_exception",
}

HourOf = Callable[[int], int]  # epoch milliseconds to the hour of the local day
_LOOKED_AT = 5  # latest runs of a phase among which a finished one is searched


class LaneStopped(ClawmemError):
    """The lane was asked to stop during its work."""


class LaneTick(NamedTuple):
    """Journal rows of one attempt of a lane; none if another process had run it recently."""

    lane: LaneName
    runs: tuple[Run, ...] = ()

    @property
    def summary(self) -> str:
        """Return the attempt as one line."""
        return f"{self.lane}: {'; '.join(map(summarize_run, self.runs))}"


@dataclass(frozen=True, slots=True)
class Lanes:
    """
    Runs the lanes of a vault; any process may call it.

    Args:
        lane: Returns the `Lane` for the name of a lease and ``lease_ms``.
        hour_of: Returns the local hour of the day for an epoch time in milliseconds.
    """

    journal: Journal
    telemetry: Telemetry
    clock: Clock
    lane: Callable[..., Lane]
    phases: Phases
    hour_of: HourOf
    plan: LaneSettings

    def tick(
        self,
        name: LaneName,
        *,
        now: bool = False,
        paced: bool = False,
        told: Callable[[], bool] = lambda: False,
    ) -> LaneTick:
        """
        Run a lane once if it is permitted and no other process runs it.

        Args:
            now: Whether the heavy lane ignores its time window and the limit of recent questions.
            paced: Whether to skip work that any process did within its interval.
            told: Whether the lane shall stop; checked before each effect, which is then not made.

        Raises:
            VaultError: the journal cannot be written.
        """
        if name is LaneName.HEAVY and not now and (why := self._gate()):
            return self._skipped(name, why)
        lane = self.lane(name.lease, lease_ms=LEASE_MS)
        if not _entered(lane):
            return self._skipped(name, SkipReason.LEASE)
        try:
            if paced and self.left_ms(name):
                return LaneTick(name)
            return self._worked(name, _fence(lane, told), paced=paced)
        finally:
            lane.leave()

    def left_ms(self, name: LaneName) -> int:
        """Return the milliseconds until the next tick is due; 0 if it is due now."""
        return Pace(self.journal, self.clock).left_ms(name, self.plan.interval_ms(name))

    def serve(self, name: LaneName, stop: StopSignal, tell: Callable[[LaneTick], None]) -> None:
        """
        Tick at the lane's interval until *stop* is set, and pass each tick to *tell*.

        If several processes serve a lane, one of them runs each tick.
        """
        while not stop.is_set():
            if not self.left_ms(name):
                tell(self.tick(name, paced=True, told=stop.is_set))
            stop.wait((self.left_ms(name) or self.plan.interval_ms(name)) / 1000)

    def _gate(self) -> SkipReason | None:
        now_ms = self.clock.now_ms()
        asked = sum(1 for _ in self.telemetry.recalls(since=iso_utc(now_ms - RECENT_MS)))
        window = Window(self.plan.window_start, self.plan.window_end)
        return gate(window, self.hour_of(now_ms), asked, self.plan.max_usages)

    def _skipped(self, name: LaneName, why: SkipReason) -> LaneTick:
        return LaneTick(name, (self._written_off(name, GATE, why.value),))

    def _worked(self, name: LaneName, fence: Fence, *, paced: bool) -> LaneTick:
        runs: list[Run] = []
        for phase in self.phases.of(name):
            if paced and not Pace(self.journal, self.clock).is_due(name, phase.name, phase.every_ms):
                continue
            runs.append(self._run(name, phase, fence))
            if runs[-1].reason in (LOST, STOPPED):
                break
        return LaneTick(name, tuple(runs))

    def _run(self, name: LaneName, phase: Phase, fence: Fence) -> Run:
        """Run one phase; its failure is recorded, and the next phase still runs."""
        if phase.missing:
            return self._written_off(name, phase.name, phase.missing)
        begun = Run(name.value, phase.name, RunStatus.STARTED, self._now())
        begun = replace(begun, id=self.journal.begin(begun))
        try:
            done = phase.work(fence, lambda done: self.journal.update(_of(begun, done)))
            run = replace(_of(begun, done), status=RunStatus.COMPLETED)
        except (LeaseLost, LaneStopped) as end:
            run = self._failed(begun, LOST if isinstance(end, LeaseLost) else STOPPED)
        except ClawmemError as error:
            run = self._failed(begun, FAILURES[phase.name], error=error.code)
        run = replace(run, finished_at=self._now())
        self.journal.update(run)
        return run

    def _failed(self, begun: Run, reason: str, **metrics: str) -> Run:
        """Return *begun* as failed, with the counters of its committed effects only."""
        told = self.journal.run(begun.id) or begun
        return replace(told, status=RunStatus.FAILED, reason=reason, metrics={**told.metrics, **metrics})

    def _written_off(self, name: LaneName, phase: str, why: str) -> Run:
        """Record a skipped phase and the reason."""
        now = self._now()
        run = Run(name.value, phase, RunStatus.SKIPPED, now, why, finished_at=now)
        return replace(run, id=self.journal.begin(run))

    def _now(self) -> str:
        return iso_utc(self.clock.now_ms())


def summarize_run(run: Run) -> str:
    """Return a summary of *run* in a few words."""
    would = " (dry run)" if run.metrics.get("dry_run") else ""
    counted = f"{run.selected} looked at, {run.created} made, {run.rejected} refused{would}"
    if run.status is RunStatus.COMPLETED:
        return f"{run.phase}: {counted}"
    until_then = f": {counted}" if run.processed or run.created else ""
    return f"{run.phase} {run.status}{f', {run.reason}' if run.reason else ''}{until_then}"


def _of(begun: Run, done: PhaseResult) -> Run:
    return replace(begun, **done._asdict())


def _entered(lane: Lane) -> bool:
    """Whether the lease was acquired; a busy vault counts as a lease held by another process."""
    try:
        return lane.enter()
    except VaultError:
        return False


def _fence(lane: Lane, told: Callable[[], bool]) -> Fence:
    def fence() -> None:
        lane.keep()
        lane.check()
        if told():
            raise LaneStopped

    return fence


class Pace:
    """Computes due times from the journal. Entries in the future come from a wrong clock and delay nothing."""

    def __init__(self, journal: Journal, clock: Clock) -> None:
        self._journal = journal
        self._clock = clock

    def left_ms(self, lane: LaneName, interval_ms: int) -> int:
        """Return the milliseconds until *interval_ms* after the lane's last attempt; 0 if it is due."""
        return self._left(self._journal.runs(1, lane.value), interval_ms)

    def is_due(self, lane: LaneName, phase: str, every_ms: int) -> bool:
        """Whether a phase was neither completed nor skipped within *every_ms*."""
        runs = self._journal.runs(_LOOKED_AT, lane.value, phase) if every_ms else []
        settled = [run for run in runs if run.status in (RunStatus.COMPLETED, RunStatus.SKIPPED)]
        return self._left(settled[:1], every_ms) == 0

    def _left(self, last: list[Run], interval_ms: int) -> int:
        began = parse_iso(last[0].started_at) if last else None
        age = -1 if began is None else self._clock.now_ms() - began
        return interval_ms - age if 0 <= age < interval_ms else 0
