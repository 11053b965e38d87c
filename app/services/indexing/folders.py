"""Folders of collections, and the files that belong to each."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from clawmem.app.services.indexing.ownership import Ownership, root_of
from clawmem.domain.documents.eligibility import compile_pattern, is_excluded
from clawmem.ports.files import FileSource
from clawmem.ports.origin import Origin
from clawmem.ports.records import Scan


@dataclass(frozen=True, slots=True)
class Folder:
    """
    A collection: its name, its absolute folder, and the pattern of the paths below that folder.

    ``inside`` are the folders of other collections below it. Files that match their patterns belong to them.
    ``origin`` is the recorded origin of its notes, which decides how far they are trusted.
    ``is_configured`` returns, during a pass, whether the collection is still configured with this folder.
    """

    name: str
    root: str
    pattern: str = "**/*.md"
    inside: tuple[Folder, ...] = ()
    origin: Origin = Origin.USER
    is_configured: Callable[[], bool] = field(default=lambda: True, compare=False, repr=False)


def scan_folder(files: FileSource, folder: Folder, only: Collection[str] | None = None) -> Scan:
    """
    Return the files that *folder* owns, those of *only* if it is given.

    A file is owned if the pattern matches, no exclusion forbids it, and no nested folder owns it.
    """
    wanted, root, inside = compile_pattern(folder.pattern), root_of(folder), Ownership(folder.inside)
    above = None if only is None else {path[:end] for path in only for end in _ends_of_folders(path)}

    def is_owned(path: str) -> bool:
        return wanted(path) and not is_excluded(path) and inside.owner(f"{root}/{path}") is None

    return files.scan(
        folder.root,
        enter=lambda path: not is_excluded(path) and (above is None or path in above),
        wanted=lambda path: (only is None or path in only) and is_owned(path),
    )


def misnamed_sentence(path: str) -> str:
    """Describe a file or folder that cannot be indexed because of its name, and name the remedy."""
    return f"{path} was skipped: its name is not UTF-8. Rename it."


def _ends_of_folders(path: str) -> list[int]:
    return [place for place, character in enumerate(path) if character == "/"]
