"""Settings of Claude Code, as checks read them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from clawmem.app.services.setup.hooks import HOOKS, group_faults, has_plugin
from clawmem.app.services.setup.settings_file import SettingsFile
from clawmem.ports.errors import ConfigError


class ClientSettings:
    """
    ``settings.json`` of Claude Code, or another file of its folder that contains a JSON object.

    Raises:
        ConfigError: the file is no plain JSON object.
    """

    def __init__(self, folder: Path, name: str = "settings.json") -> None:
        self._settings = SettingsFile(folder / name)
        self._object = self._settings.document.value
        self.file = self._settings.file

    @property
    def hooks(self) -> dict[str, Any]:
        """
        The hooks of all programs: see `clawmem.app.services.setup.hooks.Hooks`.

        Raises:
            ConfigError: they have a shape that the client does not read either.
        """
        hooks = self._object.get(HOOKS, {})
        for key, expected in group_faults(hooks):
            raise ConfigError(f"{self.file}: {key} must be {expected}. Correct it, then try again.")
        return hooks  # type: ignore[no-any-return]

    def member(self, name: str) -> dict[str, Any]:
        """Return the object *name*; empty if it does not exist. Raises `ConfigError` if it is no object."""
        found = self._object.get(name, {})
        if not isinstance(found, dict):
            raise ConfigError(f"{self.file}: {name!r} is no object. Correct it, then try again.")
        return found

    @property
    def has_plugin(self) -> bool:
        """Whether the clawmem plugin is enabled, which includes the hooks."""
        return has_plugin(self._object)
