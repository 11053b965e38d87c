"""Installation, update and removal of hooks for Claude Code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clawmem.app.services.setup.client_settings import ClientSettings
from clawmem.app.services.setup.hook_entries import (
    Entry,
    installed,
    installed_options,
    with_entries,
    without_entries,
)
from clawmem.ports.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Change:
    """
    The change to a settings file, made or planned.

    ``hooks`` are the names of installed clawmem hooks after the change; ``text`` is the whole file. ``backup`` is the
    path of the copy of the original file, if one was made now.
    """

    file: str
    hooks: tuple[str, ...]
    changed: bool
    text: str
    backup: str = ""


class SetUpHooks:
    """
    Edits the clawmem hooks in the client settings in *folder*, and nothing else.

    Repeating a call changes nothing. With *dry_run* nothing is written.
    """

    def __init__(self, folder: Path, *, dry_run: bool = False) -> None:
        self._settings = ClientSettings(folder)
        self._dry_run = dry_run

    @property
    def options(self) -> dict[str, str]:
        """The options of the installed entries, see `installed_options`."""
        return installed_options(self._settings.hooks)

    def install(self, entries: Sequence[Entry]) -> Change:
        """
        Install *entries*, replacing all clawmem hooks.

        Raises:
            ConfigError: the plugin already includes the hooks, or the file cannot be read or written.
        """
        if self._settings.has_plugin:
            raise ConfigError(
                "The clawmem plugin is switched on and brings the same hooks; every prompt would get them "
                "twice. Switch it off (/plugin in Claude Code), or leave the settings alone."
            )
        return self._write(with_entries(self._settings.hooks, entries))

    def remove(self) -> Change:
        """Remove all clawmem hooks. Raises `ConfigError` when the file cannot be read or written."""
        return self._write(without_entries(self._settings.hooks))

    def _write(self, hooks: dict[str, Any]) -> Change:
        text = self._settings.changed(hooks)
        changed = text != self._settings.text
        backup = self._settings.write(text) if changed and not self._dry_run else ""
        names = tuple(name for name, _ in installed(hooks))
        return Change(str(self._settings.file), names, changed, text, backup)
