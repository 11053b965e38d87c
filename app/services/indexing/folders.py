"""Folders of collections, and the files that belong to each."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from clawmem.app.services.indexing.exclusions import Exclusions
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
    ``exclude`` are patterns of files that are not read; ``gitignore`` is whether .gitignore files exclude files.
    ``is_configured`` returns, during a pass, whether the collection is still configured with this folder.
    """

    name: str
    root: str
    pattern: str = "**/*.md"
    inside: tuple[Folder, ...] = ()
    origin: Origin = Origin.USER
    exclude: tuple[str, ...] = ()
    gitignore: bool = True
    is_configured: Callable[[], bool] = field(default=lambda: True, compare=False, repr=False)


def scan_folder(
    files: FileSource,
    folder: Folder,
    only: Collection[str] | None = None,
    exclusions: Exclusions | None = None,
) -> Scan:
    """
    Return the files that *folder* owns, those of *only* if it is given.

    A file is owned if the pattern matches, no rule excludes it, and no nested folder owns it. *exclusions* collects the
    rules, and counts the excluded files.
    """
    rules = Exclusions(files, folder) if exclusions is None else exclusions
    matches, root, inside = compile_pattern(folder.pattern), root_of(folder), Ownership(folder.inside)
    above = None if only is None else {path[:end] for path in only for end in _ends_of_folders(path)}

    def enter(path: str) -> bool:
        if is_excluded(path) or (above is not None and path not in above):
            return False
        return not rules.counted(path, is_folder=True)

    def wanted(path: str) -> bool:
        rules.note(path)
        if is_excluded(path) or not matches(path) or (only is not None and path not in only):
            return False
        return inside.owner(f"{root}/{path}") is None and not rules.counted(path, is_folder=False)

    scan = files.scan(folder.root, enter=enter, wanted=wanted)
    return scan._replace(unreadable=tuple(sorted({*scan.unreadable, *rules.unreadable})))


def misnamed_sentence(path: str) -> str:
    """Describe a file or folder that cannot be indexed because of its name, and name the remedy."""
    return f"{path} was skipped: its name is not UTF-8. Rename it."


def _ends_of_folders(path: str) -> list[int]:
    return [place for place, character in enumerate(path) if character == "/"]
