"""Settings of the maintenance lanes: the section ``lanes`` of the configuration."""

from __future__ import annotations

from dataclasses import dataclass

from clawmem.app.services.knowledge.asking import CALLS_A_DAY
from clawmem.app.settings.sections import LaneSettings
from clawmem.domain.maintenance.contradiction_gate import LEAST_CONFIDENCE, Policy
from clawmem.domain.maintenance.merge_gate import NORMAL, STRICT
from clawmem.domain.maintenance.schedule import ALWAYS, MOST_QUESTIONS, LaneName, Window
from clawmem.domain.maintenance.selection import HEAVY_LIMIT, LIGHT_LIMIT

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
