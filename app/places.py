"""Where things lie, from the environment alone: for doors that cannot wait for the whole configuration."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def config_folder(env: Mapping[str, str]) -> Path:
    """Where the config file is looked for."""
    if chosen := env.get("CLAWMEM_CONFIG_DIR"):
        return Path(chosen).expanduser()
    return Path(env.get("XDG_CONFIG_HOME") or "~/.config").expanduser() / "clawmem"


def default_vault(env: Mapping[str, str]) -> Path:
    """The vault when the command line names none."""
    if chosen := env.get("INDEX_PATH"):
        return Path(chosen).expanduser()
    return Path(env.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "clawmem" / "index.sqlite"


def models_folder(env: Mapping[str, str]) -> Path:
    """Where models are kept that are no part of an installed package."""
    return Path(env.get("XDG_DATA_HOME") or "~/.local/share").expanduser() / "clawmem" / "models"


def client_folder(env: Mapping[str, str]) -> Path:
    """Where Claude Code keeps its settings, plugins and transcripts."""
    return Path(env.get("CLAUDE_CONFIG_DIR") or "~/.claude").expanduser()
