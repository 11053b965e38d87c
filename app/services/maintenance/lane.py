"""Plan of the lanes, and the lease that lets one process work in a lane."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from clawmem.app.services.knowledge.asking import CALLS_A_DAY
from clawmem.app.settings.sections import LaneSettings
from clawmem.domain.maintenance.contradiction_gate import LEAST_CONFIDENCE, Policy
from clawmem.domain.maintenance.merge_gate import NORMAL, STRICT
from clawmem.domain.maintenance.schedule import ALWAYS, MOST_QUESTIONS, LaneName, Window
from clawmem.domain.maintenance.selection import HEAVY_LIMIT, LIGHT_LIMIT
from clawmem.ports.clock import Clock
from clawmem.ports.errors import LeaseLost, VaultError
from clawmem.ports.lease import LeaseStore
from clawmem.ports.records import Lease

DEDUCTION_LIMIT, LIGHT_DEDUCTION_LIMIT = 40, 20
ENRICH_LIMIT = 3

# Keys of the section whose fields of the plan have another name.
_FIELDS = {
    "max_usages": "most_questions",
    "obs_limit": "heavy_limit",
    "ded_limit": "deduction_limit",
    "light_interval": "light_interval_ms",
    "heavy_interval": "heavy_interval_ms",
    "enrich": "enriches",
    "min_confidence": "least_confidence",
}


@dataclass(frozen=True, slots=True)
class Plan:
    """
    Schedule, batch sizes and permitted changes of the lanes.

    ``dry_run`` applies to the light lane alone: it reports possible merges and changes nothing.
    """

    window: Window = ALWAYS
    most_questions: int = MOST_QUESTIONS
    light_limit: int = LIGHT_LIMIT
    heavy_limit: int = HEAVY_LIMIT
    deduction_limit: int = DEDUCTION_LIMIT
    light_deduction_limit: int = LIGHT_DEDUCTION_LIMIT
    enrich_limit: int = ENRICH_LIMIT  # documents that the model enriches per tick
    daily_calls: int = CALLS_A_DAY
    light_interval_ms: int = LaneName.LIGHT.interval_ms
    heavy_interval_ms: int = LaneName.HEAVY.interval_ms
    enriches: bool = True
    dry_run: bool = False
    surprisal: bool = False
    merge_normal: float = NORMAL
    merge_strict: float = STRICT
    contradictions: Policy = Policy.LINK
    least_confidence: float = LEAST_CONFIDENCE
    hosted: tuple[LaneName, ...] = ()  # lanes that servers and watchers run automatically

    def interval_ms(self, lane: LaneName) -> int:
        """Return the pause between two ticks of *lane* in milliseconds."""
        chosen = self.heavy_interval_ms if lane is LaneName.HEAVY else self.light_interval_ms
        return max(chosen, lane.least_interval_ms)


USUAL = Plan()


def read_plan(section: LaneSettings | None) -> Plan:
    """Return the plan of *section*; missing keys keep their defaults."""
    chosen = section.model_dump(exclude_none=True) if section else {}
    hosted = tuple(name for name in LaneName if chosen.pop(name.value, False))
    window = Window(chosen.pop("window_start", None), chosen.pop("window_end", None))
    policy = Policy(chosen.pop("contradictions", Policy.LINK))
    fields = {_FIELDS.get(key, key): value for key, value in chosen.items()}
    return Plan(window=window, contradictions=policy, hosted=hosted, **fields)


LEASE_MS = 30_000  # also the pause in work after a process on another machine died
RENEWED_EVERY_MS = 10_000


class Lane:
    """
    Renewable lease on the work *name*.

    The lease only avoids duplicate work; it does not protect data. Work that may outlast the lease must be safe when
    two processes do it, or call `check` in the transaction of each effect.
    """

    def __init__(
        self,
        name: str,
        leases: LeaseStore,
        clock: Clock,
        holder: str,
        is_gone: Callable[[str], bool],
        *,
        lease_ms: int = LEASE_MS,
    ) -> None:
        self._name = name
        self._leases = leases
        self._clock = clock
        self._holder = holder
        self._is_gone = is_gone
        self._lease_ms = lease_ms
        self._lease: Lease | None = None

    def enter(self) -> bool:
        """
        Acquire the lease, taking it over at once from a killed process; False while another process holds it.

        Raises:
            VaultError: the vault cannot be written at the moment.
        """
        if who := self.taken_by():
            if not self._is_gone(who.holder):
                return False
            self._leases.release(who)
        now_ms = self._clock.now_ms()
        self._lease = self._leases.acquire(self._name, self._holder, now_ms=now_ms, ttl_ms=self._lease_ms)
        return self._lease is not None

    def taken_by(self) -> Lease | None:
        """Return the current lease, or ``None`` if no process holds it."""
        return self._leases.current(self._name, now_ms=self._clock.now_ms())

    def keep(self) -> None:
        """
        Renew the lease when renewal is due, also after it expired if no other process took it. Call this often.

        Raises:
            LeaseLost: another process holds the lease, or held it in between and may have worked.
        """
        lease, now_ms = self._lease, self._clock.now_ms()
        if lease is None or lease.expires_ms - now_ms > self._lease_ms - RENEWED_EVERY_MS:
            return
        try:
            self._lease = self._leases.renew(lease, now_ms=now_ms, ttl_ms=self._lease_ms)
        except VaultError:
            return  # another process is writing; the next call tries again

    def check(self) -> None:
        """
        Pass while this process holds the lease with its current fencing token.

        Raises:
            LeaseLost: otherwise; the surrounding transaction must be rolled back.
        """
        if self._lease is None:
            raise LeaseLost(self._name, self._holder)
        self._leases.check(self._lease, now_ms=self._clock.now_ms())

    def leave(self) -> None:
        """Release the lease; if that fails, it expires."""
        lease, self._lease = self._lease, None
        if lease:
            with suppress(VaultError):
                self._leases.release(lease)
