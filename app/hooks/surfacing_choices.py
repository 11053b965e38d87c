"""What was chosen about surfacing, read without the whole configuration: that alone would take longer than a hook may."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from clawmem.app.places import config_folder, default_vault, models_folder
from clawmem.domain.surfacing.profiles import BALANCED, NUDGE_INTERVAL, ThresholdMode

CONFIG_FILES = ("config.yaml", "index.yml")
DEDUPE_S = 600.0
RECALL_DAYS, RECEIPT_DAYS = 90, 30

_SCALAR = re.compile(r"^(\w+):[ \t]+([^#\s{\[|>&*!][^#\n]*?)[ \t]*(?:[ \t]#.*)?$", re.MULTILINE)
_ASKED = ("CLAWMEM_LLM_", "CLAWMEM_RERANK_")
_URLS = tuple(f"{beginning}URL" for beginning in _ASKED)
_TRUE = frozenset({"1", "true", "yes", "on"})


class Chosen(NamedTuple):
    """
    What the environment and the plain lines of the config file say.

    ``remembers`` says whether anything is written down at all; ``receipt_days`` is 0 where no words are kept.
    ``heartbeats`` are the person's own signs of one. ``servers`` holds the variables of the model servers that may
    be asked about a prompt; it is empty where none is named.
    """

    vault: Path
    models: Path
    profile: str = BALANCED
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
    topics: Path | None = None
    topic: str = ""
    servers: Mapping[str, str] = MappingProxyType({})


def chosen_in(env: Mapping[str, str]) -> Chosen:
    """What is chosen; a value that cannot be read is as good as none, for a prompt must not fail because of it."""
    said = _plain_lines(env)
    read_only = _is_true(said.get("read_only", ""))
    with_receipts = _is_true(said.get("receipts", "true"))
    vault = default_vault(env)
    return Chosen(
        vault=vault,
        models=models_folder(env),
        profile=env.get("CLAWMEM_PROFILE") or said.get("profile", BALANCED),
        mode=_mode(env.get("CLAWMEM_THRESHOLD_MODE", "")),
        embedder=said.get("embedder", "auto"),
        remembers=_is_true(said.get("telemetry", "true")) and not read_only,
        forgets=not read_only,
        recall_days=int(_number(said.get("retention_days", ""), RECALL_DAYS)),
        receipt_days=int(_number(said.get("receipt_days", ""), RECEIPT_DAYS)) if with_receipts else 0,
        heartbeats=tuple(filter(None, env.get("CLAWMEM_HEARTBEAT_PATTERNS", "").split(","))),
        with_heartbeats=_is_true(env.get("CLAWMEM_DISABLE_HEARTBEAT_SUPPRESSION", "")),
        dedupe_s=_number(env.get("CLAWMEM_HOOK_DEDUP_WINDOW_SEC", ""), DEDUPE_S),
        nudge_interval=int(_number(env.get("CLAWMEM_NUDGE_INTERVAL", ""), NUDGE_INTERVAL)),
        topics=topics_folder(env),
        topic=env.get("CLAWMEM_SESSION_FOCUS", ""),
        servers=_servers(env),
    )


def topics_folder(env: Mapping[str, str]) -> Path:
    """Where the topics of sessions are kept."""
    if chosen := env.get("CLAWMEM_FOCUS_ROOT"):
        return Path(chosen).expanduser()
    return Path(env.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "clawmem" / "sessions"


def _servers(env: Mapping[str, str]) -> dict[str, str]:
    named = any(map(env.get, _URLS))
    return {name: value for name, value in env.items() if named and name.startswith(_ASKED)}


def _plain_lines(env: Mapping[str, str]) -> dict[str, str]:
    """The top-level ``key: value`` lines of the config file; what is nested is not asked for here."""
    folder = config_folder(env)
    for name in CONFIG_FILES:
        with suppress(OSError, UnicodeDecodeError):
            text = (folder / name).read_text("utf-8")
            return {key: value.strip("'\"") for key, value in _SCALAR.findall(text)}
    return {}


def _mode(text: str) -> ThresholdMode:
    with suppress(ValueError):
        return ThresholdMode(text.lower())
    return ThresholdMode.ADAPTIVE


def _is_true(text: str) -> bool:
    return text.lower() in _TRUE


def _number(text: str, usual: float) -> float:
    with suppress(ValueError):
        return float(text)
    return usual
