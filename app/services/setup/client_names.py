"""Names of the clients that setup connects; apart from their table, because a help text needs no more."""

from __future__ import annotations

CLIENT_TITLES = {
    "claude-code": "Claude Code",
    "codex": "Codex",
    "gemini": "Gemini CLI",
    "opencode": "OpenCode",
    "openclaw": "OpenClaw",
    "hermes": "Hermes",
    "vscode": "VS Code",
    "cursor": "Cursor",
    "zed": "Zed",
    "windsurf": "Windsurf",
}
