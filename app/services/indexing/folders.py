"""Folders of collections, and the files that belong to each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import NamedTuple

from clawmem.app.services.documents.references import broken_links
from clawmem.app.services.indexing.collections import Ownership, root_of
from clawmem.app.services.indexing.exclusions import Exclusions
from clawmem.app.services.indexing.source import Split
from clawmem.domain.documents.eligibility import compile_pattern, is_excluded
from clawmem.domain.documents.ignoring import MARKS, app_of
from clawmem.domain.documents.links import is_attachment
from clawmem.ports.documents import DocumentStore, LinkStore
from clawmem.ports.files import FileSource, TextExtractor
from clawmem.ports.records import Document, Origin, Scan, Scope

MOST_FOLDERS = 3_000  # that a count enters, which takes less than a second or two
LARGEST = 5


@dataclass(frozen=True, slots=True)
class Folder:
    """
    A collection: its name, its absolute folder, and the pattern of the paths below that folder.

    ``inside`` are the folders of other collections below it. Files that match their patterns belong to them.
    ``origin`` is the recorded origin of its notes, which decides how far they are trusted.
    ``exclude`` are patterns of files that are not read; ``gitignore`` is whether .gitignore files exclude files.
    ``only`` limits a pass to these paths; no other file is read, and no other document removed.
    ``about`` returns the description of the folders above a path, which is embedded with its text.
    ``extract`` returns the text of attachments; without it every file is read as text.
    ``split`` returns the fragments of a body that begins on a line; by default those of clawmem.
    ``is_configured`` returns, during a pass, whether the collection is still configured with this folder.
    """

    name: str
    root: str
    pattern: str = "**/*.md"
    inside: tuple[Folder, ...] = ()
    origin: Origin = Origin.USER
    exclude: tuple[str, ...] = ()
    gitignore: bool = True
    only: frozenset[str] | None = None
    about: Callable[[str], str] = field(default=lambda path: "", compare=False, repr=False)
    extract: TextExtractor | None = field(default=None, compare=False, repr=False)
    split: Split | None = field(default=None, compare=False, repr=False)
    is_configured: Callable[[], bool] = field(default=lambda: True, compare=False, repr=False)


def scan_folder(
    files: FileSource,
    folder: Folder,
    only: Collection[str] | None = None,
    exclusions: Exclusions | None = None,
) -> Scan:
    """
    Return the files that *folder* owns, those of *only* if that is given.

    A file is owned if the pattern matches, no rule excludes it, and no nested folder owns it. *exclusions* collects the
    rules, and counts the excluded files. ``links`` are those that would be owned or entered if they were followed.
    """
    rules = Exclusions(files, folder) if exclusions is None else exclusions
    matches, root, inside = compile_pattern(folder.pattern), root_of(folder), Ownership(folder.inside)
    only = folder.only if only is None else only
    above = (
        None
        if only is None
        else {path[:end] for path in only for end, sign in enumerate(path) if sign == "/"}
    )

    def enter(path: str) -> bool:
        if is_excluded(path) or (above is not None and path not in above):
            return False
        return not rules.counted(path, is_folder=True)

    def wanted(path: str) -> bool:
        rules.note(path)
        return is_wanted(path)

    def is_wanted(path: str) -> bool:
        if is_excluded(path) or not matches(path) or (only is not None and path not in only):
            return False
        return inside.owner(f"{root}/{path}") is None and not rules.counted(path, is_folder=False)

    scan = files.scan(folder.root, enter=enter, wanted=wanted)
    links = (path for path in scan.links if (enter(path[:-1]) if path.endswith("/") else is_wanted(path)))
    return scan._replace(unreadable=tuple(sorted({*scan.unreadable, *rules.unreadable})), links=tuple(links))


def misnamed_sentence(path: str) -> str:
    """Describe a file or folder that cannot be indexed because of its name, and name the remedy."""
    return f"{path} was skipped: its name is not UTF-8. Rename it."


def known_sources(documents: DocumentStore, folder: Folder) -> dict[str, Document]:
    """Return the records of the files of *folder*, by path."""
    if folder.only is None:
        return documents.sources(folder.name)
    found = {path: documents.at(folder.name, path) for path in folder.only}
    return {path: document for path, document in found.items() if document}


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


def survey(documents: DocumentStore, links: LinkStore, files: FileSource, folder: Folder) -> Survey:
    """Return the survey of *folder*, whose notes are indexed."""
    served = {
        path: document.id
        for path, document in documents.sources(folder.name).items()
        if document.inactive is None
    }
    app, attachments = _seen(files, folder, served)
    broken = broken_links(documents, links, Scope(frozenset([folder.name])))
    return Survey(app, len(served), len(links.outgoing(served.values())), len(broken), attachments)


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
