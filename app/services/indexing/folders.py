"""Folders of collections, and the files that belong to each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from clawmem.app.services.indexing.exclusions import Exclusions
from clawmem.app.services.indexing.source import Split
from clawmem.domain.documents.eligibility import compile_pattern, is_excluded
from clawmem.ports.files import FileSource, TextExtractor
from clawmem.ports.records import Origin, Scan


@dataclass(frozen=True, slots=True)
class Folder:
    """
    A collection: its name, its absolute folder, and the pattern of the paths below that folder.

    ``inside`` are the folders of other collections below it. Files that match their patterns belong to them.
    ``origin`` is the recorded origin of its notes, which decides how far they are trusted.
    ``exclude`` are patterns of files that are not read; ``include`` are folders that built-in rules would exclude, by
    name or path; ``gitignore`` is whether .gitignore files exclude files.
    ``only`` limits a pass to these paths; no other file is read, and no other document removed.
    ``about`` returns the description of the folders above a path, which is embedded with its text.
    ``extract`` returns the text of attachments; without it every file is read as text.
    ``project`` is that of its notes that name none. ``has_commits`` is whether its notes are commits of a repository.
    ``split`` returns the fragments of a body that begins on a line; by default those of clawmem.
    """

    name: str
    root: str
    pattern: str = "**/*.md"
    inside: tuple[Folder, ...] = ()
    origin: Origin = Origin.USER
    exclude: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    gitignore: bool = True
    project: str = ""
    has_commits: bool = False
    only: frozenset[str] | None = None
    about: Callable[[str], str | None] = field(default=lambda path: "", compare=False, repr=False)
    extract: TextExtractor | None = field(default=None, compare=False, repr=False)
    split: Split | None = field(default=None, compare=False, repr=False)


class Ownership:
    """
    Assigns a file to the innermost of nested folders that matches it; for identical folders, to the first.

    Raises:
        InvalidInput: a pattern that expands to too many.
    """

    def __init__(self, folders: Iterable[Folder]) -> None:
        owners = [(root_of(folder), folder, compile_pattern(folder.pattern)) for folder in folders]
        self._owners = sorted(owners, key=lambda owner: owner[0].count("/"), reverse=True)

    def owner(self, path: str) -> str | None:
        """Return the collection that owns the absolute POSIX *path*; ``None`` if there is none."""
        return next((name for name, matches, below in self.around(path) if matches(below)), None)

    def around(self, path: str) -> Iterator[tuple[str, Callable[[str], bool], str]]:
        """Yield the collections around *path*, innermost first, each with its pattern and the path below its folder."""
        for root, folder, matches in self._owners:
            below = path[len(root) + 1 :] or "."
            if f"{path}/".startswith(f"{root}/") and not is_excluded(below, folder.include):
                yield folder.name, matches, below


def nested(folders: Sequence[Folder]) -> list[Folder]:
    """Return *folders*, each with its nested folders, which own the files they match."""
    roots = [root_of(folder) for folder in folders]
    return [
        replace(
            folder,
            inside=tuple(
                other
                for at, other in enumerate(folders)
                if roots[at].startswith(f"{root}/") or (roots[at] == root and at < place)
            ),
        )
        for place, (folder, root) in enumerate(zip(folders, roots, strict=True))
    ]


def root_of(folder: Folder) -> str:
    """Return the root of *folder* with slashes on every system, without one at the end."""
    return PurePath(folder.root).as_posix().rstrip("/")


def scan_folder(files: FileSource, folder: Folder, exclusions: Exclusions | None = None) -> Scan:
    """
    Return the files that *folder* owns, those of its ``only`` if that is given.

    A file is owned if the pattern matches, no rule excludes it, and no nested folder owns it. *exclusions* collects the
    rules, and counts what is not read. ``links`` are those that would be owned or entered if they were followed, and
    ``special`` what would be owned if it were a file.
    """
    rules = Exclusions(files, folder) if exclusions is None else exclusions
    matches, root, inside = compile_pattern(folder.pattern), root_of(folder), Ownership(folder.inside)
    only = folder.only
    above = {path[:end] for path in only or () for end, sign in enumerate(path) if sign == "/"}

    def enter(path: str) -> bool:
        return (only is None or path in above) and not rules.counted(path, is_folder=True)

    def wanted(path: str) -> bool:
        rules.note(path)
        return is_wanted(path)

    def is_wanted(path: str) -> bool:
        if (only is not None and path not in only) or inside.owner(f"{root}/{path}") is not None:
            return False
        return not rules.counted(path, is_folder=False) if matches(path) else rules.passed_over(path)

    scan = files.scan(folder.root, enter=enter, wanted=wanted)
    links = (path for path in scan.links if (enter(path[:-1]) if path.endswith("/") else is_wanted(path)))
    return scan._replace(
        unreadable=tuple(sorted({*scan.unreadable, *rules.unreadable})),
        links=tuple(links),
        special=tuple(filter(is_wanted, scan.special)),
    )
