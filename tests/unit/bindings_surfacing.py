"""How the vectors of what a prompt carries call this implementation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clawmem.domain.surfacing import packing
from clawmem.domain.surfacing.block import Entry, block, entry_text, nudge, routing_hint
from clawmem.domain.surfacing.facts import seeds_of
from clawmem.domain.surfacing.filters import (
    MATCH,
    OTHER,
    activation,
    is_hidden,
    is_noise,
    is_on_topic,
    read_topic,
)
from clawmem.domain.surfacing.gate import looking_back, why_skip
from clawmem.domain.surfacing.profiles import least_kept, profile_named

TOOLS = ("session_log", "intent_search", "find_similar")


def _gate(given: dict[str, Any]) -> str | None:
    reason = why_skip(**given)
    return reason.value if reason else None


def _threshold(given: dict[str, Any]) -> float | None:
    return least_kept(given["best"], profile_named(given["profile"]))


def _profile(given: dict[str, Any]) -> dict[str, Any]:
    fields = profile_named(**given)._asdict()
    return {name: value for name, value in fields.items() if name != "name"}


def _focus(given: dict[str, Any]) -> float:
    is_matching = is_on_topic(read_topic(given.pop("topic")), **given)
    return MATCH if is_matching else OTHER


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
    "surfacing_threshold": _threshold,
    "surfacing_profile": _profile,
    "spreading_activation": lambda given: activation(
        given["scores"], lambda key: given["partners"].get(key, {})
    ),
    "surfacing_tier": lambda given: packing.quoted_characters(**given),
    "surfacing_focus": lambda given: _focus(dict(given)),
    "look_back": lambda given: looking_back(**given),
    "routing_hint": _hint,
    "surfacing_nudge": lambda given: bool(nudge(**given)),
    "surfacing_hidden": lambda given: is_hidden(**given),
    "surfacing_noise": lambda given: is_noise(**given),
    "fact_seeds": _seeds,
    "surfacing_block": lambda given: block(**given),
    "surfacing_entry": lambda given: entry_text(Entry(**given)),
    "pack_lines": lambda given: packing.pack_lines(**given),
    "surfacing_pack": _pack,
}
