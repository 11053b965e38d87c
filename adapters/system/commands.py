"""Commands of the user's own config file, and the user's text editor."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path, PurePath

from clawmem.ports.errors import ConfigError


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


USUAL = ("nano", "vim", "vi", "notepad")  # without a setting, the first of these that is installed
_PLUS_LINE = frozenset("vi vim nvim gvim nano emacs emacsclient micro kak joe".split())
_COLON_LINE = frozenset("hx helix subl zed".split())
_GOTO_LINE = frozenset("code codium code-insiders cursor".split())


def editor_of(environ: Mapping[str, str]) -> list[str]:
    """
    Return the words of the editor's command: ``VISUAL``, ``EDITOR``, or the first of `USUAL` that is installed.

    Raises:
        ConfigError: There is no editor, or the setting has an open quotation mark.
    """
    for name in ("VISUAL", "EDITOR"):
        try:
            if words := shlex.split(environ.get(name, "")):
                return words
        except ValueError as error:
            raise ConfigError(
                f"{name} is {environ[name]!r}, which is no command: {error}. Correct it."
            ) from error
    for command in USUAL:
        if shutil.which(command):
            return [command]
    raise ConfigError("No editor is known. Set EDITOR, for example: export EDITOR=nano")


def open_in_editor(command: list[str], file: str, line: int) -> None:
    """
    Open *file* in the editor at *line*, if the editor is known to accept one, and wait until the editor ends.

    Raises:
        ConfigError: The editor cannot be started, or ended with a failure.
    """
    try:
        done = subprocess.run([*command, *_place(PurePath(command[0]).stem, file, line)], check=False)
    except OSError as error:
        raise ConfigError(
            f"The editor {command[0]!r} cannot be started: {error.strerror}. Set EDITOR."
        ) from error
    if done.returncode:
        raise ConfigError(f"The editor {command[0]!r} ended with {done.returncode}. Check EDITOR, or repeat.")


def _place(editor: str, file: str, line: int) -> list[str]:
    if editor in _PLUS_LINE:
        return [f"+{line}", file]
    if editor in _GOTO_LINE:
        return ["--goto", f"{file}:{line}"]
    return [f"{file}:{line}" if editor in _COLON_LINE else file]
