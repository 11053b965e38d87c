"""Hooks for Claude Code: installed, renewed, removed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clawmem.app.services.setup.client_settings import ClientSettings
from clawmem.app.services.setup.hook_entries import Entry, installed, with_entries, without_entries
from clawmem.ports.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Change:
    """
    What set-up did to a settings file, or would do.

    ``hooks`` are the names of ours that stand in it afterwards; ``text`` is the whole file. ``backup`` is the
    path of the copy that was made of the file as it was before, if one was made now.
    """

    file: str
    hooks: tuple[str, ...]
    changed: bool
    text: str
    backup: str = ""


class SetUpHooks:
    """
    Edits the settings of the client in *folder*, and nothing in them that is not ours.

    Repeating it changes nothing. With *dry_run* nothing is written.
    """

    def __init__(self, folder: Path, *, dry_run: bool = False) -> None:
        self._settings = ClientSettings(folder)
        self._dry_run = dry_run

    def install(self, entries: Sequence[Entry]) -> Change:
        """
        Put *entries* in, in the place of whatever was ours.

        Raises:
            ConfigError: the plugin brings the same hooks already, or the file cannot be read or written.
        """
        if self._settings.has_plugin:
            raise ConfigError(
                "The clawmem plugin is switched on and brings the same hooks; every prompt would get them "
                "twice. Switch it off (/plugin in Claude Code), or leave the settings alone."
            )
        return self._write(with_entries(self._settings.hooks, entries))

    def remove(self) -> Change:
        """Take out what is ours. Raises `ConfigError` when the file cannot be read or written."""
        return self._write(without_entries(self._settings.hooks))

    def _write(self, hooks: dict[str, Any]) -> Change:
        text = self._settings.changed(hooks)
        changed = text != self._settings.text
        backup = self._settings.write(text) if changed and not self._dry_run else ""
        names = tuple(name for name, _ in installed(hooks))
        return Change(str(self._settings.file), names, changed, text, backup)
