"""What the owner chose of the lanes: the section ``lanes`` of the configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clawmem.domain.maintenance.contradiction_gate import Policy
from clawmem.domain.maintenance.schedule import ALWAYS, MOST_QUESTIONS, LaneName, Window
from clawmem.domain.maintenance.selection import HEAVY_LIMIT, LIGHT_LIMIT
from clawmem.ports.errors import ConfigError

DEDUCTION_LIMIT = 40
_NUMBERS = ("window_start", "window_end", "max_usages", "light_limit", "obs_limit", "ded_limit")
_SWITCHES = ("light", "heavy", "light_applies")
_KEYS = (*_NUMBERS, *_SWITCHES, "contradictions")
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
    """When the heavy lane works, how much is looked at, and what may be changed."""

    window: Window = ALWAYS
    most_questions: int = MOST_QUESTIONS
    light_limit: int = LIGHT_LIMIT
    heavy_limit: int = HEAVY_LIMIT
    deduction_limit: int = DEDUCTION_LIMIT
    light_applies: bool = False
    contradictions: Policy = Policy.LINK
    hosted: tuple[LaneName, ...] = ()  # by a server, without being asked


USUAL = Plan()


def read_plan(section: Mapping[str, Any]) -> Plan:
    """
    The plan of a section; what it does not say is as usual.

    ``window_start`` and ``window_end`` are hours, ``max_usages`` questions within ten minutes, the limits documents,
    ``light`` and ``heavy``, which a server then works in, and ``light_applies`` are yes or no, ``contradictions`` is
    ``link`` or ``supersede``.

    Raises:
        ConfigError: a key or a value that nobody knows.
    """
    if unknown := sorted(section.keys() - set(_KEYS)):
        raise ConfigError(f"lanes: {unknown[0]!r} is not known; use {', '.join(_KEYS)}.")
    number = {key: _whole(key, section[key]) for key in _NUMBERS if section.get(key) is not None}
    is_on = {key: _switch(key, section.get(key, False)) for key in _SWITCHES}
    policy = section.get("contradictions", Policy.LINK)
    if policy not in set(Policy):
        raise ConfigError("lanes: contradictions is link or supersede.")
    return Plan(
        Window(number.get("window_start"), number.get("window_end")),
        number.get("max_usages", MOST_QUESTIONS),
        number.get("light_limit", LIGHT_LIMIT),
        number.get("obs_limit", HEAVY_LIMIT),
        number.get("ded_limit", DEDUCTION_LIMIT),
        is_on["light_applies"],
        Policy(policy),
        tuple(name for name in LaneName if is_on[name.value]),
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
