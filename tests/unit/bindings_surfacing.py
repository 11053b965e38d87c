"""How the vectors of what a prompt carries call this implementation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clawmem.domain.surfacing import packing
from clawmem.domain.surfacing.block import Entry, age_label, block, entry_text
from clawmem.domain.surfacing.facts import seeds_of
from clawmem.domain.surfacing.filters import (
    activation,
    focus_factor,
    is_hidden,
    is_noise,
    is_on_topic,
    read_topic,
    topic_tokens,
)
from clawmem.domain.surfacing.gate import looking_back, why_skip
from clawmem.domain.surfacing.hints import nudge, routing_hint
from clawmem.domain.surfacing.packing import CHARACTERS, tier_of
from clawmem.domain.surfacing.profiles import ThresholdMode, least_kept, profile_named

TOOLS = ("session_log", "intent_search", "find_similar")


def _gate(given: dict[str, Any]) -> str | None:
    reason = why_skip(**given)
    return reason.value if reason else None


def _threshold(given: dict[str, Any]) -> float | None:
    mode = ThresholdMode(given.pop("mode", "adaptive"))
    return least_kept(given.pop("best"), profile_named(given.pop("profile")), mode, **given)


def _profile(given: dict[str, Any]) -> dict[str, Any]:
    fields = profile_named(**given)._asdict()
    return {name: value for name, value in fields.items() if name != "name"}


def _activation(given: dict[str, Any]) -> dict[str, float]:
    partners = {source: [(key, times) for key, times in found] for source, found in given["partners"].items()}
    return activation([(key, score) for key, score in given["ranked"]], lambda key: partners.get(key, []))


def _tier(given: dict[str, Any]) -> list[Any]:
    tier = tier_of(**given)
    return [tier.value, CHARACTERS[tier]]


def _focus(given: dict[str, Any]) -> float | None:
    tokens = topic_tokens(read_topic(given.pop("topic")))
    return focus_factor(is_on_topic(tokens, **given)) if tokens else None


def _hint(given: dict[str, Any]) -> str:
    hint = routing_hint(**given)
    return next((tool for tool in TOOLS if tool in hint), hint)


def _seeds(given: dict[str, Any]) -> dict[str, Any]:
    return {name: list(found) for name, found in seeds_of(**given)._asdict().items()}


def _pack(given: dict[str, Any]) -> int:
    texts = given["texts"]
    return packing.pack(len(texts), lambda n: packing.SEPARATOR.join(texts[:n]), given["budget"])


BINDINGS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "surfacing_gate": _gate,
    "surfacing_threshold": lambda given: _threshold(dict(given)),
    "surfacing_profile": _profile,
    "spreading_activation": _activation,
    "surfacing_tier": _tier,
    "surfacing_focus": lambda given: _focus(dict(given)),
    "look_back": lambda given: looking_back(**given),
    "routing_hint": _hint,
    "surfacing_nudge": lambda given: bool(nudge(**given)),
    "surfacing_hidden": lambda given: is_hidden(**given),
    "surfacing_noise": lambda given: is_noise(**given),
    "fact_seeds": _seeds,
    "surfacing_block": lambda given: block(**given),
    "surfacing_entry": lambda given: entry_text(Entry(**given)),
    "surfacing_age": lambda given: age_label(**given),
    "pack_lines": lambda given: packing.pack_lines(**given),
    "surfacing_pack": _pack,
}
