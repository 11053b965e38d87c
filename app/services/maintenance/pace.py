"""Schedule of the lanes, derived from the journal, which all processes share."""

from __future__ import annotations

from clawmem.domain.documents.times import parse_iso
from clawmem.domain.maintenance.schedule import LaneName
from clawmem.ports.clock import Clock
from clawmem.ports.journal import Journal, Run, RunStatus

_LOOKED_AT = 5  # latest runs of a phase among which a finished one is searched


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
