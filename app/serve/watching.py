"""The file watcher in a process or a thread, with the current settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from clawmem.app.settings.model import load_settings
from clawmem.ports.errors import EmbeddingError, ModelError

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.services.indexing.folders import Folder
    from clawmem.app.services.indexing.watching import WatchEvent
    from clawmem.ports.watcher import StopSignal

Progress = Callable[[int, int], None]


def watch(
    services: Services,
    stop: StopSignal,
    tell: Callable[[WatchEvent], None],
    *,
    every_s: float,
    embed: bool = False,
    environ: Mapping[str, str] | None = None,
) -> None:
    """
    Keep the vault up to date with its folders until *stop* is set.

    Args:
        every_s: See `clawmem.app.services.indexing.watching.Watched`.
        embed: Whether new texts are embedded after each pass that changed something, whatever the settings say.
        environ: The environment for the settings; that of this process by default.
    """
    from clawmem.app.services.indexing.watching import WatchOptions

    def then(progress: Progress) -> list[str]:
        embedded = _embedded(services, progress) if embed or folders.embeds else []
        return [*embedded, *_carried(services, progress)]

    def sync_issues(project: str) -> list[str]:
        from clawmem.app.bootstrap.integrations import issue_sync  # most folders have no issues

        return list(issue_sync(services)(project).problems)

    folders = LiveFolders(services, environ)
    services.watching(WatchOptions(folders, tell, then, sync_issues, every_s), stop)


class LiveFolders:
    """The collections of the config file, read again after a change."""

    def __init__(self, services: Services, environ: Mapping[str, str] | None = None) -> None:
        self._services = services
        self._environ = environ
        self._settings, self._folders = services.settings, services.folders
        self._read_at = _stamp(services.settings.config_file)

    def __call__(self) -> list[Folder]:
        """
        Return the folders of the collections.

        Raises:
            ConfigError: The file cannot be read now; the next call tries again.
        """
        stamp = _stamp(self._services.settings.config_file)
        if stamp != self._read_at:
            fresh = load_settings(vault=self._services.settings.vault, environ=self._environ)
            self._settings, self._folders = fresh, replace(self._services, settings=fresh).folders
            self._read_at = stamp
        return self._folders

    @property
    def embeds(self) -> bool:
        """Whether the current settings let new texts be embedded."""
        return bool(self._settings.embeds(self._settings.collections))


def _embedded(services: Services, progress: Progress) -> list[str]:
    try:
        report = services.embed(progress=progress)
    except (EmbeddingError, ModelError) as error:
        return [str(error)]
    return [str(report.error)] if report.stopped else []


def _carried(services: Services, progress: Progress) -> list[str]:
    services.vault.keep_up(progress)
    return [f"The {role} index lags: {reason}" for role, reason in services.vault.lagging.items()]


def _stamp(file: Path) -> tuple[int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns
