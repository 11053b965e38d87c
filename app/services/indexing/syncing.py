"""One-time indexing of a folder, for vaults whose folders are not listed in a config file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from clawmem.app.config_file import RESERVED, typed_folder
from clawmem.app.services.indexing.folders import Folder
from clawmem.app.services.indexing.guarded_files import GuardedFiles, is_own
from clawmem.app.services.indexing.update import (
    PassReport,
    Progress,
    UpdateCollection,
)
from clawmem.domain.documents.eligibility import is_collection_name
from clawmem.domain.security.folders import restriction_of
from clawmem.ports.errors import InvalidInput
from clawmem.ports.files import FileSource

CHOOSE = "Choose a folder of notes, for example one below your home."
# The message names no configured folder, because the folders of one vault must not be revealed to another.
LIST_IT = (
    "The user can list it under 'sync_folders:' in the config file, or run: clawmem vault sync NAME FOLDER"
)
NOT_LISTED = "is not below a folder that programs may read"


class RestrictedFolder(InvalidInput):
    """A folder that must not be read into a vault, or not by a program."""

    def __init__(self, folder: str, why: str, remedy: str = CHOOSE) -> None:
        super().__init__("RESTRICTED_PATH", f"{folder} {why}. Nothing of it was read. {remedy}")


class SyncFolder:
    """
    A pass over a folder that a person or a program names.

    Credentials and clawmem's own files in the folder are skipped; the report names them.

    Args:
        make_update: Makes an `UpdateCollection` over ``files``.
        files: File source for persons.
        single_files: File source for programs, without files that have hard links, whose other names may be anywhere.
        home: The home folder of the user; folders below it may be read.
        own: The files of clawmem itself: its vaults and its config file.
    """

    def __init__(
        self,
        make_update: Callable[..., UpdateCollection],
        files: FileSource,
        single_files: FileSource,
        home: Path,
        own: Sequence[Path] = (),
    ) -> None:
        self._make_update = make_update
        self._files = files
        self._single_files = single_files
        self._home = home
        self._own = own

    def __call__(
        self,
        folder: str,
        collection: str,
        pattern: str = "**/*.md",
        *,
        allowed: Sequence[Path] | None = None,
        allow_empty: bool = False,
        progress: Progress = lambda done, total: None,
    ) -> PassReport:
        """
        Synchronize *collection* with *folder*. Documents of the collection that are not in *folder* are removed.

        Args:
            allowed: For a program: the folders that it may read, with their subfolders. ``None`` for a person.

        Raises:
            RestrictedFolder: *folder*, or the target of its links, must not be read.
            InvalidInput: invalid folder, collection name or pattern.
            VaultError: earlier commits are kept.
        """
        if not is_collection_name(collection) or collection in RESERVED:
            raise InvalidInput(
                "INVALID_INPUT",
                f"{collection!r} is no name for a collection of files. Use letters, digits, '-' and '_'.",
            )
        root = admitted(folder, self._home, own=self._own, allowed=allowed)
        files = GuardedFiles(
            self._files if allowed is None else self._single_files,
            self._home,
            [one.resolve() for one in self._own],
        )
        one_pass, found = self._make_update(files=files), Folder(collection, str(root), pattern)
        report = one_pass(found, allow_empty=allow_empty, progress=progress)
        report.problems.extend(files.skipped.values())
        return report


def admitted(
    folder: str, home: Path, *, own: Sequence[Path] = (), allowed: Sequence[Path] | None = None
) -> Path:
    """
    Return *folder* with links resolved, if both its name and the resolved path may be read.

    Args:
        own: The files of clawmem itself.
        allowed: For a program: the folders that it may read, with their subfolders. ``None`` for a person.

    Raises:
        RestrictedFolder: *folder* must not be read.
        InvalidInput: *folder* is not a folder.
    """
    typed_folder(folder)
    called = f"{home}{folder[1:]}" if folder == "~" or folder.startswith("~/") else folder
    whole_home = home.resolve()  # if the home folder is a link, either of its names is accepted
    if why := restriction_of(called, str(home)) and restriction_of(called, str(whole_home)):
        raise RestrictedFolder(folder, why)
    root = _existing(folder, Path(called))
    if why := restriction_of(str(root), str(whole_home)) or is_own(root, [one.resolve() for one in own]):
        raise RestrictedFolder(folder, why)
    if allowed is not None and not any(root.is_relative_to(one.resolve()) for one in allowed):
        raise RestrictedFolder(folder, NOT_LISTED, LIST_IT)
    return root


def _existing(folder: str, called: Path) -> Path:
    try:
        root = called.resolve(strict=True)
        is_folder = root.is_dir()
    except (OSError, ValueError, RuntimeError):  # missing, an invalid name, or a loop of links
        is_folder = False
    if not is_folder:
        raise InvalidInput("INVALID_PATH", f"{folder} is not a folder. Give the path of one.")
    return root
