"""Commands of the user's own config file."""

from __future__ import annotations

import subprocess
from pathlib import Path


def failure_of_command(command: str, folder: Path) -> str:
    """Run a shell command in *folder*; return why it failed, or an empty string."""
    try:
        done = subprocess.run(
            command, shell=True, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
    except OSError as error:
        return f"{command!r} could not be run: {error.strerror}"
    lines = (done.stderr or done.stdout).decode("utf-8", "replace").strip().splitlines()
    last = lines[-1] if lines else ""
    return f"{command!r} ended with {done.returncode}: {last}" if done.returncode else ""
