"""Survey of a collection: its program, its links, and the files beside its notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

from clawmem.app.services.documents.references import broken_links
from clawmem.app.services.indexing.exclusions import Exclusions
from clawmem.app.services.indexing.folders import Folder
from clawmem.domain.documents.eligibility import compile_pattern, is_excluded
from clawmem.domain.documents.links import is_attachment
from clawmem.domain.documents.note_apps import MARKS, app_of
from clawmem.ports.files import FileSource
from clawmem.ports.records import Scope
from clawmem.ports.stores import DocumentRecords

MOST_FOLDERS = 3_000  # that a count enters, which takes less than a second or two
LARGEST = 5


class FileCount(NamedTuple):
    """Files of a folder that match a pattern; ``largest`` are the folders directly below it with most of them."""

    files: int
    largest: list[tuple[str, int]]
    is_whole: bool


def count_files(files: FileSource, root: str, pattern: str) -> FileCount:
    """Count the files below *root* that match *pattern*, of at most `MOST_FOLDERS` folders."""
    matches, entered = compile_pattern(pattern), 0

    def enter(path: str) -> bool:
        nonlocal entered
        entered += not is_excluded(path)
        return entered <= MOST_FOLDERS and not is_excluded(path)

    scan = files.scan(root, enter=enter, wanted=lambda path: matches(path) and not is_excluded(path))
    counts = Counter(file.path.partition("/")[0] for file in scan.files if "/" in file.path)
    return FileCount(len(scan.files), counts.most_common(LARGEST), entered <= MOST_FOLDERS)


@dataclass(frozen=True, slots=True)
class Survey:
    """
    The program of a folder, such as ``Obsidian``, its indexed notes and their links, and its attachments.

    Attachments are pictures, recordings and other files that are not indexed and that no rule excludes.
    """

    app: str
    notes: int
    links: int
    broken_links: int
    attachments: int


def survey(vault: DocumentRecords, files: FileSource, folder: Folder) -> Survey:
    """Return the survey of *folder*, whose notes are indexed."""
    served = {
        path: one.id for path, one in vault.documents.sources(folder.name).items() if one.inactive is None
    }
    app, attachments = _seen(files, folder, served)
    broken = broken_links(vault, Scope(frozenset([folder.name])))
    return Survey(app, len(served), len(vault.links.outgoing(served.values())), len(broken), attachments)


def _seen(files: FileSource, folder: Folder, indexed: Collection[str]) -> tuple[str, int]:
    """Return the program of the folder, and the number of its attachments that are not *indexed*."""
    marks: set[str] = set()
    rules = Exclusions(files, folder)

    def enter(path: str) -> bool:
        if path in MARKS:
            marks.add(path)
        return not is_excluded(path) and not rules.counted(path, is_folder=True)

    def wanted(path: str) -> bool:
        if path in MARKS:
            marks.add(path)
        rules.note(path)
        is_loose = is_attachment(path) and path not in indexed and not is_excluded(path)
        return is_loose and not rules.counted(path, is_folder=False)

    scan = files.scan(folder.root, enter=enter, wanted=wanted)
    return app_of(marks), len(scan.files)
