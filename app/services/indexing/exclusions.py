"""Rules that exclude files of one collection, collected while its folder is scanned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from clawmem.domain.documents.editor_settings import OBSIDIAN, OBSIDIAN_FILES, SETTINGS_FILES, settings_rules
from clawmem.domain.documents.eligibility import is_excluded
from clawmem.domain.documents.ignoring import Exclusion, IgnoreRule, RuleSource, exclusion_of, git_rules
from clawmem.ports.errors import SourceMissing, SourceUnreadable
from clawmem.ports.files import FileSource

if TYPE_CHECKING:
    from clawmem.app.services.indexing.folders import Folder

GIT, OWN = ".gitignore", ".clawmemignore"
IGNORE_FILES = frozenset({GIT, OWN})
BUILT_IN = "the built-in rules"
CONFIGURED = "exclude in the config file"


class _Loaded(NamedTuple):
    """The rules of one file, with their rank: stronger kinds first, and of one kind deeper folders first."""

    rank: tuple[int, int]
    source: RuleSource


_CONFIG_RANK, _OWN_RANK, _EDITOR_RANK, _GIT_RANK = range(4)


class Exclusions:
    """
    The rules that exclude paths of *folder*.

    Rules of the config file go before those of .clawmemignore, then those in the settings of Obsidian and Logseq, then
    those of .gitignore; of one kind, the file in the deeper folder goes first. Call `note` with every path of a scan, which makes it read ignore files
    before the files that they may exclude.

    ``templates`` are files that their content excludes. ``unreadable`` are folders whose ignore file cannot be read: no record below them is changed.
    """

    def __init__(self, files: FileSource, folder: Folder) -> None:
        self._files = files
        self._folder = folder
        self._by_folder: dict[str, list[_Loaded]] = {}
        self._chains: dict[str, list[RuleSource]] = {}
        self.counts: Counter[str] = Counter()
        self.templates: dict[str, Exclusion] = {}
        self.unreadable: dict[str, str] = {}
        if folder.exclude:
            rules = git_rules("\n".join(folder.exclude))
            self._add("", _CONFIG_RANK, RuleSource(CONFIGURED, rules))
        self._load_settings()
        if folder.gitignore:
            self._by_folder.setdefault("", []).extend(_rules_above(files, PurePath(folder.root)))

    def note(self, path: str) -> None:
        """Read *path* if it is an ignore file."""
        parent, _, name = path.rpartition("/")
        if name == OWN:
            self._load(path, parent, _OWN_RANK)
        elif name == GIT and self._folder.gitignore:
            self._load(path, parent, _GIT_RANK)

    def counted(self, path: str, *, is_folder: bool) -> bool:
        """Whether a rule excludes *path*, whose folders are not excluded. Counts it by the source of the rule."""
        found = self.of(path, is_folder=is_folder)
        if found:
            self.counts[found.source] += 1
        return found is not None or path.rpartition("/")[0] in self.unreadable

    def add_template(self, path: str, mark: Exclusion) -> None:
        """Exclude the file *path*, whose *mark* shows that it is a template."""
        if path not in self.templates:
            self.counts[mark.source] += 1
        self.templates[path] = mark

    def of(self, path: str, *, is_folder: bool) -> Exclusion | None:
        """Return the rule that excludes *path*, whose folders are not excluded."""
        return exclusion_of(path, self._chain(path.rpartition("/")[0]), is_folder=is_folder)

    def why_unreadable(self, path: str) -> str:
        """Return why nothing below the folder *path* can be listed."""
        if path not in self.unreadable:
            return f"{path} could not be listed"
        return f"The rules that exclude files of {path or 'the folder'} could not be read ({self.unreadable[path]})"

    def explained(self, path: str, *, is_folder: bool = False) -> tuple[str, Exclusion] | None:
        """Return the first part of *path* that is excluded, with the rule. A scan must have met its folders."""
        names = path.split("/")
        for end in range(1, len(names) + 1):
            part, is_end = "/".join(names[:end]), end == len(names)
            if is_excluded(names[end - 1]):
                return part, Exclusion(BUILT_IN, 0, names[end - 1])
            if found := self.of(part, is_folder=is_folder or not is_end):
                return part, found
        found = self.templates.get(path)
        return (path, found) if found else None

    def _chain(self, folder: str) -> list[RuleSource]:
        """Return the rules that apply directly inside *folder*, strongest first."""
        if folder not in self._chains:
            names = folder.split("/") if folder else []
            above = ["/".join(names[:end]) for end in range(len(names) + 1)]
            loaded = [one for part in above for one in self._by_folder.get(part, ())]
            self._chains[folder] = [one.source for one in sorted(loaded, key=lambda one: one.rank)]
        return self._chains[folder]

    def _load(self, path: str, parent: str, kind: int) -> None:
        text = self._text(path, parent)
        if text is not None:
            self._add(parent, kind, RuleSource(path, git_rules(text), parent))

    def _text(self, path: str, parent: str = "") -> str | None:
        try:
            return self._files.read(self._folder.root, path).decode("utf-8", "replace")
        except SourceMissing:
            return None
        except SourceUnreadable as error:
            self.unreadable[parent] = f"{path}: {error.reason}"
            return None

    def _load_settings(self) -> None:
        """Load the rules in the settings of Obsidian and Logseq, which may also be those of a folder above."""
        root = self._folder.root
        for path in SETTINGS_FILES:
            self._add_settings(path, self._text(path))
        for path in OBSIDIAN_FILES:
            for outer, data in self._files.read_above(root, path, up_to=OBSIDIAN):
                prefix = PurePath(root).relative_to(outer).as_posix()
                self._add_settings(path, data.decode("utf-8", "replace"), prefix)

    def _add_settings(self, path: str, text: str | None, prefix: str = "") -> None:
        if text is None:
            return
        try:
            name, rules = settings_rules(path, text)
        except ValueError as error:
            self.unreadable[""] = f"{path}: {error}"
            return
        if prefix:  # a person has chosen the folder, even if Obsidian excludes it
            rules = [rule for rule in rules if not rule.matches(f"{prefix}/")]
        self._add("", _EDITOR_RANK, RuleSource(name, rules, prefix=prefix))

    def _add(self, parent: str, kind: int, source: RuleSource) -> None:
        depth = parent.count("/") + 1 if parent else 0
        self._by_folder.setdefault(parent, []).append(_Loaded((kind, -depth), source))
        self._chains.clear()


def _rules_above(files: FileSource, root: PurePath) -> list[_Loaded]:
    """
    Return the rules of the .gitignore files above *root*, up to the folder of its repository; none without one.

    They do not count if they exclude *root* itself, because a person has chosen that folder.
    """
    texts = files.read_above(str(root), GIT, up_to=".git")
    found = [(PurePath(outer), git_rules(data.decode("utf-8", "replace"))) for outer, data in texts]
    if any(_excludes_folder(found, place) for place in (root, *root.parents)):
        return []
    return [
        _Loaded(
            (_GIT_RANK, depth), RuleSource(str(outer / GIT), rules, prefix=root.relative_to(outer).as_posix())
        )
        for depth, (outer, rules) in enumerate(found, start=1)
    ]


def _excludes_folder(found: Iterable[tuple[PurePath, list[IgnoreRule]]], place: PurePath) -> bool:
    for outer, rules in found:
        if outer in place.parents:
            rule = RuleSource("", rules).decisive(place.relative_to(outer).as_posix(), is_folder=True)
            if rule:
                return rule.excludes
    return False
