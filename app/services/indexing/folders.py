"""Folders of collections, the rules that exclude files, and the files that belong to each folder."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from operator import itemgetter
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, TypeAlias
from unicodedata import normalize

from clawmem.app.environment.places import real_path
from clawmem.app.services.indexing.source import Split, decode
from clawmem.domain.documents.eligibility import compile_pattern, is_excluded
from clawmem.domain.documents.names import READABLE
from clawmem.domain.security.folders import without_backtracking
from clawmem.ports.errors import SourceUnreadable
from clawmem.ports.files import FileSource, TextExtractor
from clawmem.ports.records import Origin, Scan

if TYPE_CHECKING:
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

MISSING_FOLDER = (
    "Bring it back. If it is elsewhere now, run: clawmem collection add PATH --name {0}; "
    "if it is not needed any more: clawmem collection remove {0}"
)
GIT, OWN = ".gitignore", ".clawmemignore"
BUILT_IN = "the built-in rules"
# Files in the folder .obsidian, and their keys that name templates, which are no notes.
_TEMPLATES = {
    "templates.json": "folder",
    "daily-notes.json": "template",
    "plugins/templater-obsidian/data.json": "templates_folder",
}
_LEAST_LOST, _NEARLY_ALL = 10, 0.9  # number and share of documents that are not removed without a question
_CONFIG_RANK, _OWN_RANK, _GIT_RANK = range(3)
_Rules: TypeAlias = "list[tuple[GitIgnoreSpecPattern, Exclusion]]"  # of one file or setting


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
    ``project`` is that of its notes that name none. ``private`` is whether all are. ``has_commits`` is whether its notes are commits of a repository.
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
    private: bool = False
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


def missing_folder(folder: Folder, problem: str, *, has_documents: bool) -> tuple[str, str]:
    """Return the fault of a *folder* that cannot be listed, because of *problem* if that is known, and the remedy."""
    fault = problem.rstrip(".") or f"{folder.root} is not there, or is no folder"
    if has_documents:
        return f"{fault}; its documents are kept.", "" if problem else MISSING_FOLDER.format(folder.name)
    remedy = f"Name its folder: clawmem collection add PATH --name {folder.name}"
    return f"{fault}; it has no documents.", f"{remedy}, or run: clawmem collection remove {folder.name}"


def seems_unmounted(files: FileSource, folder: Folder, lost: int, served: int) -> bool:
    """Whether *folder* may be an empty mount point: *lost* are nearly all *served* notes, or fewer and no file is left."""
    if not 0 < served == lost < _LEAST_LOST:
        return lost >= max(_LEAST_LOST, _NEARLY_ALL * served)
    scan = files.scan(folder.root, enter=lambda path: True, wanted=lambda path: True)
    return not (scan.files or scan.links or scan.unreadable)


def file_of_stub(path: str) -> str:
    """Return the path of the file that the stub *path* of iCloud stands for; *path* of any other file."""
    return re.sub(r"(^|/)\.([^/]+)\.icloud$", r"\1\2", path)


def root_of(folder: Folder) -> str:
    """Return the root of *folder* with slashes on every system, without one at the end."""
    return PurePath(folder.root).as_posix().rstrip("/")


@dataclass(frozen=True, slots=True)
class Exclusion:
    """The rule that excludes a path: the file or setting, the line (0 without lines), and the pattern as written."""

    source: str
    line: int
    pattern: str

    def __str__(self) -> str:
        return f"{self.source}{f', line {self.line}' if self.line else ''} ({self.pattern})"


def _rules_of(source: str, lines: Iterable[str], *, is_numbered: bool) -> _Rules:
    """Return the rules that *lines* in the syntax of .gitignore state; invalid lines are skipped."""
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    rules = []
    for number, line in enumerate(lines, start=1):
        with suppress(ValueError, re.error):
            exclusion = Exclusion(source, number if is_numbered else 0, line.strip())
            pattern = GitIgnoreSpecPattern(normalize("NFC", line))
            if pattern.regex:
                pattern.regex = re.compile(without_backtracking(pattern.regex.pattern))
            rules.append((pattern, exclusion))
    return rules


class Exclusions:
    """
    The rules that exclude paths of *folder*.

    Rules of the config file go before those of .clawmemignore, then those of .gitignore; of one kind, the file in the
    deeper folder goes first. Call `note` with every path of a scan, which makes it read ignore files before the files
    that they may exclude.

    ``unreadable`` are folders whose ignore file cannot be read: no record below them is changed. ``journal_format`` is
    that of the days in links of a graph of Logseq, empty in other folders.
    """

    def __init__(self, files: FileSource, folder: Folder) -> None:
        self._files = files
        self._folder = folder
        self._rules: dict[str, list[tuple[int, _Rules]]] = {}  # by folder, with their ranks
        self.counts: Counter[str] = Counter()
        self.unreadable: dict[str, str] = {}
        self.journal_format = ""
        if folder.exclude:
            rules = _rules_of("exclude in the config file", folder.exclude, is_numbered=False)
            self._rules[""] = [(_CONFIG_RANK, rules)]

    def note(self, path: str) -> None:
        """Read *path* if it is an ignore file, or the folder of the settings of Obsidian or Logseq."""
        parent, _, name = path.rpartition("/")
        for file, key in _TEMPLATES.items() if name == ".obsidian" else ():
            with suppress(SourceUnreadable, ValueError, AttributeError):
                template = json.loads(self._files.read(self._folder.root, f"{path}/{file}")).get(key) or ""
                if literal := re.sub(r"([*?\[\]\\])", r"\\\1", template.strip("/")):
                    rules = _rules_of(f"{path}/{file}", [f"/{literal}", f"/{literal}.md"], is_numbered=False)
                    self._rules.setdefault(parent, []).append((_GIT_RANK, rules))
        if name == "logseq":
            with suppress(SourceUnreadable):
                settings = self._files.read(self._folder.root, f"{path}/config.edn").decode(errors="replace")
                stated = re.search(r'^[\s{]*:journal/page-title-format\s+"([^"]+)"', settings, re.MULTILINE)
                self.journal_format = stated[1] if stated else "MMM do, yyyy"  # by default
        if name == OWN or (name == GIT and self._folder.gitignore):
            try:
                source = Path(self._folder.root, path)
                place = str(real_path(source)) if source.is_symlink() else path
                text = decode(self._files.read(self._folder.root, place), path)[0]
                lines = text.removeprefix("\ufeff").splitlines()
                rank = _OWN_RANK if name == OWN else _GIT_RANK
                self._rules.setdefault(parent, []).append((rank, _rules_of(path, lines, is_numbered=True)))
            except SourceUnreadable as error:
                self.unreadable[parent] = f"{path}: {error.reason}"

    def counted(self, path: str, *, is_folder: bool) -> bool:
        """
        Whether a rule excludes *path*, whose folders are not excluded. Counts it by the source of the rule.

        Hidden files and private folders are not counted.
        """
        rule = self.rule(path, is_folder=is_folder)
        if rule and rule.source != BUILT_IN:
            self.counts[rule.source] += 1
        elif rule and not rule.pattern.startswith((".", "_")):
            self.counts[f"{BUILT_IN} ({rule.pattern})"] += 1
        return rule is not None or path.rpartition("/")[0] in self.unreadable

    def why_unreadable(self, path: str) -> str:
        """Return why the file *path*, or nothing below that folder, can be read."""
        if path not in self.unreadable:
            return f"{path} could not be read. Check its permissions"
        fault = f"The rules that exclude files of {path or 'the folder'} could not be read ({self.unreadable[path]})"
        return f"{fault}. Correct or remove that file"

    def explained(self, path: str, *, is_folder: bool = False) -> tuple[str, Exclusion] | None:
        """Return the first part of *path* that is excluded, with the rule. A scan must have met its folders."""
        names = path.split("/")
        for end in range(1, len(names) + 1):
            part = "/".join(names[:end])
            if rule := self.rule(part, is_folder=is_folder or end < len(names)):
                return part, rule
        return None

    def rule(self, path: str, *, is_folder: bool) -> Exclusion | None:
        """
        Return the rule that excludes *path*, whose folders are not excluded.

        The last rule of a source that matches decides; the first source that decides goes before others.
        """
        folder, _, name = path.rpartition("/")
        if is_excluded(path, self._folder.include):
            return Exclusion(BUILT_IN, 0, next(filter(is_excluded, reversed(path.split("/"))), name))
        # macOS decomposes names of files, and editors compose letters.
        place = normalize("NFC", f"{path}/" if is_folder else path)
        parts = folder.split("/") if folder else []
        above = ["/".join(parts[:end]) for end in range(len(parts), -1, -1)]  # the deepest first
        sources = [(rank, at, rules) for at in above for rank, rules in self._rules.get(at, ())]
        for _, at, rules in sorted(sources, key=itemgetter(0)):
            below = place.removeprefix(f"{normalize('NFC', at)}/") if at else place
            for pattern, exclusion in reversed(rules):
                match = pattern.regex.search(below) if pattern.regex else None
                # A rule of a folder above decides about that folder alone, since another source may include the path.
                if match and (not match.groupdict().get("ps_d") or match.end() == len(below)):
                    return exclusion if pattern.include else None
        return None


def scan_folder(files: FileSource, folder: Folder, rules: Exclusions | None = None) -> Scan:
    """
    Return the files that *folder* owns, those of its ``only`` if that is given.

    A file is owned if the pattern matches, no rule excludes it, and no nested folder owns it. *rules* collects
    those, and counts files that are not read.
    """
    matches, root, inside = compile_pattern(folder.pattern), root_of(folder), Ownership(folder.inside)
    rules = rules or Exclusions(files, folder)
    only, evicted = folder.only, list[str]()
    above = {path[:end] for path in only or () for end, sign in enumerate(path) if sign == "/"}

    def enter(path: str) -> bool:
        rules.note(path)
        return (only is None or path in above) and not rules.counted(path, is_folder=True)

    def wanted(path: str) -> bool:
        if (note := file_of_stub(path)) != path:
            evicted.extend([note] if wanted(note) else [])
            return False
        rules.note(path)
        if (only is not None and path not in only) or inside.owner(f"{root}/{path}") is not None:
            return False
        if matches(path):
            return not rules.counted(path, is_folder=False)
        if path.lower().endswith(tuple(READABLE.split())) and not rules.rule(path, is_folder=False):
            rules.counts[f"the pattern {folder.pattern} ({PurePath(path).suffix})"] += 1
        return False

    scan = files.scan(folder.root, enter=enter, wanted=wanted)
    skipped = {
        "iCloud, which has not downloaded them": len(evicted),
        "the rule that symbolic links are not followed": len(scan.links),
        "the rule that pipes, sockets and devices are not read": len(scan.special),
    }
    rules.counts += Counter(skipped)
    unreadable = {*scan.unreadable, *rules.unreadable}
    return scan._replace(unreadable=tuple(sorted(unreadable)), evicted=frozenset(evicted))
