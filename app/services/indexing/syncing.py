"""Reading a folder that somebody names into a vault, once: for vaults of which no config file says what is theirs."""

from __future__ import annotations

from pathlib import Path

from clawmem.app.config_file import RESERVED
from clawmem.app.services.indexing.update import Folder, PassReport, Progress, UpdateCollection
from clawmem.domain.documents.eligibility import is_collection_name
from clawmem.domain.security.folders import restriction_of
from clawmem.ports.errors import InvalidInput


class RestrictedFolder(InvalidInput):
    """A folder that is not read into a vault, whoever asks."""

    def __init__(self, folder: str, why: str) -> None:
        way_out = "Choose a folder of notes, for example one below your home."
        super().__init__("RESTRICTED_PATH", f"{folder} {why}. Nothing of it was read. {way_out}")


class SyncFolder:
    """
    A pass over a folder of which only its name is known, and perhaps to a program alone.

    Args:
        home: The home folder of who asks; what lies below it may be read.
    """

    def __init__(self, update: UpdateCollection, home: Path) -> None:
        self._update = update
        self._home = home

    def __call__(
        self,
        folder: str,
        collection: str,
        pattern: str = "**/*.md",
        *,
        progress: Progress = lambda done, total: None,
    ) -> PassReport:
        """
        Bring *collection* in line with *folder*. What it has of another folder goes: a folder each.

        Raises:
            RestrictedFolder: it, or what its links lead to, is not to be read.
            InvalidInput: no folder, no name for a collection, or no pattern.
            VaultError: earlier commits are kept.
        """
        if not is_collection_name(collection) or collection in RESERVED:
            raise InvalidInput(
                "INVALID_INPUT",
                f"{collection!r} is no name for a collection of files. Use letters, digits, '-' and '_'.",
            )
        root = admitted(folder, self._home)
        return self._update(Folder(collection, str(root), pattern), progress=progress)


def admitted(folder: str, home: Path) -> Path:
    """
    *folder* without links, if it may be read: as it is called, and as what it is.

    Raises:
        RestrictedFolder: it may not.
        InvalidInput: it is no folder.
    """
    called = f"{home}{folder[1:]}" if folder == "~" or folder.startswith("~/") else folder
    whole_home = home.resolve()  # where homes are links either name of it will do
    if why := restriction_of(called, str(home)) and restriction_of(called, str(whole_home)):
        raise RestrictedFolder(folder, why)
    root = _existing(folder, Path(called))
    if why := restriction_of(str(root), str(whole_home)):
        raise RestrictedFolder(folder, why)
    return root


def _existing(folder: str, called: Path) -> Path:
    try:
        root = called.resolve(strict=True)
        is_folder = root.is_dir()
    except (OSError, ValueError, RuntimeError):  # gone, of a name that is none, or a loop of links
        is_folder = False
    if not is_folder:
        raise InvalidInput("INVALID_PATH", f"{folder} is not a folder. Give the path of one.")
    return root
