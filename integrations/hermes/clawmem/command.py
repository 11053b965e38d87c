"""Calls of the ``clawmem`` command, which uses a running server by itself."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SETTINGS_FILE = "clawmem.json"  # in the home folder of Hermes
BINARY_VARIABLE = "CLAWMEM_BIN"
DEFAULTS = {"bin": "", "vault": "", "profile": "balanced"}

HOOK_S = 30.0
TOOL_S = 10.0


class CommandFailed(Exception):
    """A call that failed; the message is that of the command."""


def read_settings(home: str) -> dict[str, str]:
    """Return the settings in *home*; a missing or damaged file has the defaults."""
    try:
        found = json.loads(Path(home, SETTINGS_FILE).read_text("utf-8"))
    except (OSError, ValueError):
        found = {}
    known = found if isinstance(found, dict) else {}
    return {key: str(known.get(key) or default) for key, default in DEFAULTS.items()}


def write_settings(values: dict[str, Any], home: str) -> None:
    """Write the known settings of *values* to *home*, in one step; the file is readable by its owner only."""
    file = Path(home, SETTINGS_FILE)
    kept = {key: str(values.get(key, value) or "") for key, value in read_settings(home).items()}
    draft = file.with_name(f"{file.name}.{os.getpid()}")
    draft.touch(mode=0o600)
    draft.write_text(json.dumps(kept, indent=2) + "\n", "utf-8")
    draft.replace(file)


class ClawmemCommand:
    """The command of one vault, as *settings* name it."""

    def __init__(self, settings: dict[str, str]) -> None:
        self._vault = settings["vault"]
        self._profile = settings["profile"]
        self._binary = settings["bin"] or os.environ.get(BINARY_VARIABLE, "") or "clawmem"

    @property
    def path(self) -> str | None:
        """The program; None if it is not installed."""
        return shutil.which(Path(self._binary).expanduser())

    def hook(self, event: str, fields: dict[str, Any], *, within_s: float = HOOK_S) -> str:
        """
        Return the context that the hooks of *event* add; empty if they add none or fail.

        Args:
            fields: The event, as Claude Code would send it.
            within_s: Seconds after which the process is ended.
        """
        told = json.dumps({"hook_event_name": event, **fields})
        try:
            answer = json.loads(self._run(["hook", event, "--profile", self._profile], told, within_s))
            return str((answer.get("hookSpecificOutput") or {}).get("additionalContext") or "")
        except (CommandFailed, ValueError, AttributeError):
            return ""

    def ask(self, arguments: Sequence[str], *, within_s: float = TOOL_S) -> Any:
        """
        Return the JSON that the command prints.

        Raises:
            CommandFailed: the command refused the request, or did not answer in time.
        """
        output = self._run([*arguments[:1], "--json", *arguments[1:]], "", within_s)
        try:
            return json.loads(output)
        except ValueError as error:
            raise CommandFailed(f"clawmem {arguments[0]} answered with something else than JSON.") from error

    def _run(self, arguments: Sequence[str], text: str, within_s: float) -> str:
        program = self.path
        if not program:
            raise CommandFailed(f"There is no program {self._binary!r}. Install clawmem, or set its path.")
        environ = {
            **os.environ,
            **({"INDEX_PATH": str(Path(self._vault).expanduser())} if self._vault else {}),
        }
        try:
            done = subprocess.run(
                [program, *arguments],
                input=text.encode("utf-8", "replace"),
                capture_output=True,
                timeout=within_s,
                env=environ,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise CommandFailed(f"clawmem {arguments[0]} did not answer: {error}") from error
        if done.returncode:
            raise CommandFailed(done.stderr.decode("utf-8", "replace").strip()[-2000:])
        return done.stdout.decode("utf-8", "replace")
