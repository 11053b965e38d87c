"""Folders of the configured collections, also while a long pass outlives the settings that it started with."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial
from os import stat
from pathlib import Path

from clawmem.app.services.indexing.collections import leftover_collections, nested
from clawmem.app.services.indexing.folders import Folder
from clawmem.app.settings.config_file import read_config
from clawmem.app.settings.model import Settings
from clawmem.domain.documents.eligibility import path_context
from clawmem.domain.security.origin import TRUST
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import ConfigError
from clawmem.ports.files import TextExtractor


def configured_folders(settings: Settings, extract: TextExtractor) -> list[Folder]:
    """Return the folders of the configured collections; *extract* returns the text of attachments."""
    return nested(
        [
            Folder(
                name,
                str(collection.path),
                collection.pattern,
                origin=TRUST[collection.trust],
                exclude=tuple(collection.exclude),
                gitignore=collection.gitignore,
                about=partial(_about, collection.context),
                extract=extract,
                is_configured=partial(_is_configured, settings.config_file, name, str(collection.path)),
            )
            for name, collection in settings.collections.items()
        ]
    )


def leftovers(settings: Settings, documents: DocumentStore) -> dict[str, int]:
    """
    Return the number of documents of each collection of files that is no longer configured.

    A named vault has none: its collections are synced and never configured.
    """
    if settings.named or settings.vault in settings.vaults.values():
        return {}
    return leftover_collections(documents, settings.collections)


def _about(contexts: Mapping[str, str], path: str) -> str:
    return path_context(path, contexts) or ""


def _is_configured(config_file: Path, name: str, folder: str) -> bool:
    """Whether collection *name* has *folder* now; true while a user edits the file, and it is missing or invalid."""
    try:
        status = stat(config_file)  # noqa: PTH116  called for every note of a pass
        folders = _folders_at(config_file, (status.st_ino, status.st_mtime_ns, status.st_size))
    except (OSError, ConfigError, AttributeError, LookupError, TypeError):
        return True
    return folders.get(name) == folder


@lru_cache(maxsize=4)
def _folders_at(config_file: Path, version: tuple[int, int, int]) -> dict[str, str]:
    """Return the folder of each collection in the *version* of the config file."""
    collections = read_config(config_file).get("collections") or {}
    return {str(name): str(Path(entry["path"]).expanduser()) for name, entry in collections.items()}
