"""Settings of the maintenance lanes: the section ``lanes`` of the configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clawmem.app.services.knowledge.asking import CALLS_A_DAY
from clawmem.domain.maintenance.contradiction_gate import LEAST_CONFIDENCE, Policy
from clawmem.domain.maintenance.merge_gate import NORMAL, STRICT
from clawmem.domain.maintenance.schedule import ALWAYS, MOST_QUESTIONS, LaneName, Window
from clawmem.domain.maintenance.selection import HEAVY_LIMIT, LIGHT_LIMIT
from clawmem.ports.errors import ConfigError

DEDUCTION_LIMIT, LIGHT_DEDUCTION_LIMIT = 40, 20
ENRICH_LIMIT = 3

_NUMBERS = {
    "light_interval": LaneName.LIGHT.interval_ms,
    "heavy_interval": LaneName.HEAVY.interval_ms,
    "max_usages": MOST_QUESTIONS,
    "light_limit": LIGHT_LIMIT,
    "obs_limit": HEAVY_LIMIT,
    "ded_limit": DEDUCTION_LIMIT,
    "enrich_limit": ENRICH_LIMIT,
    "daily_calls": CALLS_A_DAY,
}
_HOURS = ("window_start", "window_end")
_SHARES = {"merge_normal": NORMAL, "merge_strict": STRICT, "min_confidence": LEAST_CONFIDENCE}
_SWITCHES = {"light": False, "heavy": False, "enrich": True, "dry_run": False, "surprisal": False}
_KEYS = (*_SWITCHES, *_HOURS, *_NUMBERS, *_SHARES, "contradictions")
_SAID = {
    "true": True,
    "yes": True,
    "on": True,
    "1": True,
    "false": False,
    "no": False,
    "off": False,
    "0": False,
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


def read_plan(section: Mapping[str, Any]) -> Plan:
    """
    Return the plan of *section*; missing keys keep their defaults.

    ``window_start`` and ``window_end`` are hours, intervals are milliseconds, ``max_usages`` is a number of questions
    within ten minutes, ``daily_calls`` a number of model calls, limits are numbers of documents. ``merge_normal``,
    ``merge_strict`` and ``min_confidence`` range from 0 to 1. ``light`` and ``heavy`` (whether servers run that lane),
    ``enrich``, ``dry_run`` and ``surprisal`` are booleans; ``contradictions`` is ``link`` or ``supersede``.

    Raises:
        ConfigError: unknown key or invalid value.
    """
    if unknown := sorted(section.keys() - set(_KEYS)):
        raise ConfigError(f"lanes: {unknown[0]!r} is not known; use {', '.join(_KEYS)}.")
    said = {key: value for key, value in section.items() if value is not None}
    number = {key: _whole(key, said.get(key, usual)) for key, usual in _NUMBERS.items()}
    share = {key: _share(key, said.get(key, usual)) for key, usual in _SHARES.items()}
    is_on = {key: _switch(key, said.get(key, usual)) for key, usual in _SWITCHES.items()}
    hours = (_whole(key, said[key]) if key in said else None for key in _HOURS)
    policy = said.get("contradictions", Policy.LINK)
    if policy not in set(Policy):
        raise ConfigError("lanes: contradictions is link or supersede.")
    return Plan(
        window=Window(*hours),
        most_questions=number["max_usages"],
        light_limit=number["light_limit"],
        heavy_limit=number["obs_limit"],
        deduction_limit=number["ded_limit"],
        enrich_limit=number["enrich_limit"],
        daily_calls=number["daily_calls"],
        light_interval_ms=number["light_interval"],
        heavy_interval_ms=number["heavy_interval"],
        enriches=is_on["enrich"],
        dry_run=is_on["dry_run"],
        surprisal=is_on["surprisal"],
        merge_normal=share["merge_normal"],
        merge_strict=share["merge_strict"],
        contradictions=Policy(policy),
        least_confidence=share["min_confidence"],
        hosted=tuple(name for name in LaneName if is_on[name.value]),
    )


def _switch(key: str, value: Any) -> bool:
    found = value if isinstance(value, bool) else _SAID.get(str(value).lower())
    if found is None:
        raise ConfigError(f"lanes: {key} must be true or false, not {value!r}.")
    return found


def _whole(key: str, value: Any) -> int:
    try:
        number = int(value)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"lanes: {key} must be a whole number, not {value!r}.") from error
    if number < 0 or isinstance(value, bool | float):
        raise ConfigError(f"lanes: {key} must be a whole number, not {value!r}.")
    return number


def _share(key: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"lanes: {key} must be a number from 0 to 1, not {value!r}.") from error
    if isinstance(value, bool) or not 0.0 <= number <= 1.0:
        raise ConfigError(f"lanes: {key} must be a number from 0 to 1, not {value!r}.")
    return number
