"""The configured collections at this moment: a long pass may outlive the settings that it started with."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from clawmem.app.bootstrap.injector import lazy
from clawmem.app.settings.config_file import read_config
from clawmem.domain.documents.path_context import path_context
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import ClawmemError

if TYPE_CHECKING:
    from clawmem.app.services.indexing.folders import Folder
    from clawmem.app.settings.model import Settings

Stamp = tuple[int, int, int]


class ConfiguredFolders:
    """
    The folders of the collections in the config file at *path*, read again whenever that file changes.

    A config file that is missing or unreadable stops no pass, because a user may be editing it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp: Stamp | None = None
        self._folders: dict[str, Path] | None = None

    def has(self, name: str, folder: Path) -> bool:
        """Whether collection *name* is still configured with *folder*."""
        stamp = self._current_stamp()
        if stamp != self._stamp:
            self._stamp, self._folders = stamp, self._read()
        return self._folders is None or self._folders.get(name) == folder

    def _current_stamp(self) -> Stamp | None:
        try:
            found = os.stat(self._path)  # noqa: PTH116  called for every note of a pass
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def _read(self) -> dict[str, Path] | None:
        if self._stamp is None:
            return None
        try:
            collections = read_config(self._path).get("collections") or {}
        except ClawmemError:
            return None
        if not isinstance(collections, dict):
            return None
        return {
            str(name): Path(str(one.get("path"))).expanduser()
            for name, one in collections.items()
            if isinstance(one, dict)
        }


def _about(contexts: Mapping[str, str], path: str) -> str:
    return path_context(path, contexts) or ""


def folders_of(settings: Settings) -> list[Folder]:
    """Return the folders of the configured collections."""
    from clawmem.app.services.indexing.collections import nested
    from clawmem.app.services.indexing.folders import Folder
    from clawmem.domain.security.origin import TRUST

    configured = ConfiguredFolders(settings.config_file)
    return nested(
        [
            Folder(
                name,
                str(one.path),
                one.pattern,
                origin=TRUST[one.trust],
                exclude=tuple(one.exclude),
                gitignore=one.gitignore,
                about=partial(_about, one.context),
                extract=lazy("adapters.attachments.extraction:extract_text"),
                is_configured=partial(configured.has, name, one.path),
            )
            for name, one in settings.collections.items()
        ]
    )


def leftovers_of(settings: Settings, documents: DocumentStore) -> dict[str, int]:
    """
    Return the number of documents of each collection of files that is no longer configured.

    A named vault has none: its collections are synced and never configured.
    """
    from clawmem.app.services.indexing.collections import leftover_collections

    if settings.named or settings.vault in settings.vaults.values():
        return {}
    return leftover_collections(documents, settings.collections)
