"""A home with a vault, and a server of it."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

from command_process import run_process
from hook_process import ask
from process_environ import process_environ

QUESTION = "where do login sessions live?"
LEFT_BY_SERVERS = {f"index.sqlite.{what}" for what in ("server", "token", "server-lock", "hooks")}


class World:
    """A home with a vault, and a server of it."""

    def __init__(self, home: Path, like: World | None = None) -> None:
        self.home = home
        self.environ = process_environ(home)
        self.vault = home / ".cache" / "clawmem" / "index.sqlite"
        if like:  # quicker than making another
            shutil.copytree(like.home / ".config", home / ".config")
            shutil.copytree(like.home / ".cache", home / ".cache", ignore=lambda *_: LEFT_BY_SERVERS)
            return
        (home / "notes").mkdir(parents=True)
        note = "# Keep sessions in Redis\n\nLogin sessions live in Redis for 14 days.\n"
        (home / "notes" / "redis.md").write_text(note, "utf-8")
        self.run("bootstrap", "notes")

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """A command, in this home."""
        return run_process(*arguments, environ=self.environ, cwd=self.home)

    def hook(self, name: str, told: dict[str, Any], **variables: str) -> dict[str, Any]:
        """What a client gets from the hook."""
        done = ask({**self.environ, **variables}, self.home, name, told)
        assert done.code == 0
        return done.answer

    def context(self, prompt: str, session: str) -> str:
        """Return the context that *prompt* gets in *session*."""
        said = self.hook("context-surfacing", prompted(prompt, session))
        return str(said.get("hookSpecificOutput", {}).get("additionalContext", ""))

    def documents(self) -> list[str]:
        """The paths of what is in the vault."""
        return [one["file"] for one in json.loads(self.run("list", "--json").stdout)["documents"]]


def prompted(prompt: str, session: str) -> dict[str, Any]:
    return {"hook_event_name": "UserPromptSubmit", "session_id": session, "prompt": prompt}
