"""Folders in which agents on this machine record their sessions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from clawmem.app.environment.places import below_home, client_folder, is_there


def session_folders(env: Mapping[str, str]) -> list[Path]:
    """Return the folders that exist."""
    data = env.get("XDG_DATA_HOME") or "~/.local/share"
    folders = (
        client_folder(env) / "projects",
        below_home(env.get("CODEX_HOME") or "~/.codex", env) / "sessions",
        below_home("~/.gemini/tmp", env),
        below_home(env.get("OPENCLAW_STATE_DIR") or "~/.openclaw", env) / "agents",
        below_home(data, env) / "opencode" / "storage",
    )
    return [folder for folder in folders if is_there(folder)]
