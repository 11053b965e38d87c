"""Settings of hooks, read from single lines of the config file: loading all settings would exceed their time budget."""

import re
from collections.abc import Mapping
from contextlib import suppress
from math import isfinite
from types import MappingProxyType
from typing import NamedTuple

from clawmem.app.environment.places import config_place, models_place, place_below_home, text_in, vault_place
from clawmem.domain.surfacing.profiles import (
    BALANCED,
    LEAST_BUDGET,
    MOST_BUDGET,
    NUDGE_INTERVAL,
    ThresholdMode,
)

CONFIG_FILES = ("config.yaml", "index.yml")
_SCALAR = r"(?m)^(\w+):[ \t]+([^#\s{\[|>&*!][^#\n]*?)[ \t]*(?:[ \t]#.*)?$"
DEDUPE_S = 600.0
RECALL_DAYS, RECEIPT_DAYS = 90, 30
MOST_NUMBER = 1e9  # seconds or prompts: larger ones do not fit into times
MOST_DAYS = 36_500  # of a retention: a hundred years

_ASKED = ("CLAWMEM_LLM_", "CLAWMEM_RERANK_")
_URLS = tuple(f"{beginning}URL" for beginning in _ASKED)
_TRUE = frozenset({"1", "true", "yes", "on"})


class SurfacingSettings(NamedTuple):
    """
    Settings from the environment and from the top-level lines of the config file.

    ``remembers`` tells whether telemetry is recorded; ``receipt_days`` is 0 if queries are not stored. ``heartbeats`` are
    additional patterns of heartbeat prompts. ``servers`` holds the variables of the model servers that may be called for a
    prompt; it is empty if none is configured. ``budget`` replaces the tokens of the profile. ``embed_url`` is the address of the embedding server.
    """

    vault: str
    models: str
    profile: str = BALANCED
    budget: int | None = None
    mode: ThresholdMode = ThresholdMode.ADAPTIVE
    embedder: str = "auto"
    remembers: bool = True
    forgets: bool = True
    recall_days: int = RECALL_DAYS
    receipt_days: int = RECEIPT_DAYS
    heartbeats: tuple[str, ...] = ()
    with_heartbeats: bool = False
    dedupe_s: float = DEDUPE_S
    nudge_interval: int = NUDGE_INTERVAL
    topics: str = ""
    topic: str = ""
    servers: Mapping[str, str] = MappingProxyType({})
    embed_url: str = ""


def plain_settings(env: Mapping[str, str]) -> dict[str, str]:
    """Return the top-level ``key: value`` lines of the config file, without nested values."""
    for name in CONFIG_FILES:
        with suppress(OSError, UnicodeDecodeError):
            found = re.findall(_SCALAR, text_in(f"{config_place(env)}/{name}"))
            return {key: value.strip("'\"") for key, value in found}
    return {}


def surfacing_settings(env: Mapping[str, str]) -> SurfacingSettings:
    """Return the settings. Invalid values are ignored, so that no prompt fails because of them."""
    lines = plain_settings(env)
    read_only = _is_true(lines.get("read_only", ""))
    with_receipts = _is_true(lines.get("receipts", "true"))
    return SurfacingSettings(
        vault=vault_place(env),
        models=models_place(env),
        profile=env.get("CLAWMEM_PROFILE") or lines.get("profile", BALANCED),
        budget=_budget(env.get("CLAWMEM_TOKEN_BUDGET", "")),
        mode=_mode(env.get("CLAWMEM_THRESHOLD_MODE", "")),
        embedder=lines.get("embedder", "auto"),
        remembers=_is_true(lines.get("telemetry", "true")) and not read_only,
        forgets=not read_only,
        recall_days=_days(lines.get("retention_days", ""), RECALL_DAYS),
        receipt_days=_days(lines.get("receipt_days", ""), RECEIPT_DAYS) if with_receipts else 0,
        heartbeats=tuple(filter(None, env.get("CLAWMEM_HEARTBEAT_PATTERNS", "").split(","))),
        with_heartbeats=_is_true(env.get("CLAWMEM_DISABLE_HEARTBEAT_SUPPRESSION", "")),
        dedupe_s=_number(env.get("CLAWMEM_HOOK_DEDUP_WINDOW_SEC", ""), DEDUPE_S),
        nudge_interval=int(_number(env.get("CLAWMEM_NUDGE_INTERVAL", ""), NUDGE_INTERVAL)),
        topics=topics_place(env),
        topic=env.get("CLAWMEM_SESSION_FOCUS", ""),
        servers=_servers(env),
        embed_url=env.get("CLAWMEM_EMBED_URL", ""),
    )


def topics_place(env: Mapping[str, str]) -> str:
    """Return the folder that stores the topics of sessions."""
    if folder := env.get("CLAWMEM_FOCUS_ROOT"):
        return place_below_home(folder, env)
    return f"{place_below_home(env.get('XDG_CACHE_HOME') or '~/.cache', env)}/clawmem/sessions"


def _servers(env: Mapping[str, str]) -> dict[str, str]:
    named = any(map(env.get, _URLS))
    return {name: value for name, value in env.items() if named and name.startswith(_ASKED)}


def _mode(text: str) -> ThresholdMode:
    with suppress(ValueError):
        return ThresholdMode(text.lower())
    return ThresholdMode.ADAPTIVE


def _is_true(text: str) -> bool:
    return text.lower() in _TRUE


def _days(text: str, usual: int) -> int:
    days = _number(text, usual)
    return int(days) if 1 <= days <= MOST_DAYS else usual


def _budget(text: str) -> int | None:
    tokens = _number(text, 0)
    return int(tokens) if LEAST_BUDGET <= tokens <= MOST_BUDGET else None


def _number(text: str, usual: float) -> float:
    with suppress(ValueError):
        number = float(text)
        return max(-MOST_NUMBER, min(number, MOST_NUMBER)) if isfinite(number) else usual
    return usual
