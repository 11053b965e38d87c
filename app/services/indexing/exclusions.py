"""Rules that exclude files of one collection, collected while its folder is scanned."""

from __future__ import annotations

from collections import Counter
from pathlib import PurePath
from typing import TYPE_CHECKING

from clawmem.domain.documents.eligibility import is_excluded
from clawmem.domain.documents.ignoring import (
    LOGSEQ_FILE,
    OBSIDIAN,
    OBSIDIAN_FILES,
    Exclusion,
    RuleSource,
    git_rules,
    settings_rules,
)
from clawmem.ports.errors import SourceMissing, SourceUnreadable
from clawmem.ports.files import FileSource

if TYPE_CHECKING:
    from clawmem.app.services.indexing.folders import Folder

GIT, OWN = ".gitignore", ".clawmemignore"
IGNORE_FILES = frozenset({GIT, OWN})
BUILT_IN = "the built-in rules"
CONFIGURED = "exclude in the config file"
_CONFIG_RANK, _OWN_RANK, _EDITOR_RANK, _GIT_RANK = range(4)


class Exclusions:
    """
    The rules that exclude paths of *folder*.

    Rules of the config file go before those of .clawmemignore, then those in the settings of Obsidian and Logseq, then
    those of .gitignore; of one kind, the file in the deeper folder goes first. Call `note` with every path of a scan,
    which makes it read ignore files before the files that they may exclude.

    ``unreadable`` are folders whose ignore file cannot be read: no record below them is changed.
    """

    def __init__(self, files: FileSource, folder: Folder) -> None:
        self._files = files
        self._folder = folder
        # By folder the rules that begin there, with their rank: stronger kinds first, then deeper folders.
        self._sources: dict[str, list[tuple[int, int, RuleSource]]] = {}
        self._chains: dict[str, list[RuleSource]] = {}
        self.counts: Counter[str] = Counter()
        self.unreadable: dict[str, str] = {}
        root = folder.root
        if folder.exclude:
            self._add(_CONFIG_RANK, RuleSource(CONFIGURED, git_rules("\n".join(folder.exclude))))
        for path in (*OBSIDIAN_FILES, LOGSEQ_FILE):
            self._add_settings(path, self._text(path))
        for path in OBSIDIAN_FILES:
            for outer, data in files.read_above(root, path, up_to=OBSIDIAN):
                self._add_settings(path, data.decode("utf-8", "replace"), outer)
        if folder.gitignore:  # those above the folder count up to the folder of its repository
            for outer, data in files.read_above(root, GIT, up_to=".git"):
                rules = git_rules(data.decode("utf-8", "replace"))
                self._add(_GIT_RANK, RuleSource(str(PurePath(outer) / GIT), rules), outer)

    def note(self, path: str) -> None:
        """Read *path* if it is an ignore file."""
        parent, _, name = path.rpartition("/")
        if name == OWN or (name == GIT and self._folder.gitignore):
            text = self._text(path, parent)
            if text is not None:
                rank = _OWN_RANK if name == OWN else _GIT_RANK
                self._add(rank, RuleSource(path, git_rules(text), parent))

    def counted(self, path: str, *, is_folder: bool) -> bool:
        """Whether a rule excludes *path*, whose folders are not excluded. Counts it by the source of the rule."""
        rule = self.of(path, is_folder=is_folder)
        if rule:
            self.counts[rule.source] += 1
        return rule is not None or path.rpartition("/")[0] in self.unreadable

    def of(self, path: str, *, is_folder: bool) -> Exclusion | None:
        """Return the rule that excludes *path*, whose folders are not excluded; the first source that matches decides."""
        for source in self._chain(path.rpartition("/")[0]):
            if rule := source.decisive(path, is_folder=is_folder):
                return Exclusion(source.name, rule.line, rule.text) if rule.excludes else None
        return None

    def why_unreadable(self, path: str) -> str:
        """Return why nothing below the folder *path* can be listed."""
        if path not in self.unreadable:
            return f"{path} could not be listed"
        return f"The rules that exclude files of {path or 'the folder'} could not be read ({self.unreadable[path]})"

    def explained(self, path: str, *, is_folder: bool = False) -> tuple[str, Exclusion] | None:
        """Return the first part of *path* that is excluded, with the rule. A scan must have met its folders."""
        names = path.split("/")
        for end, name in enumerate(names, start=1):
            part = "/".join(names[:end])
            if is_excluded(name):
                return part, Exclusion(BUILT_IN, 0, name)
            if rule := self.of(part, is_folder=is_folder or end < len(names)):
                return part, rule
        return None

    def _chain(self, folder: str) -> list[RuleSource]:
        """Return the rules that apply directly inside *folder*, strongest first."""
        if folder not in self._chains:
            above = ["", *(folder[:at] for at, sign in enumerate(f"{folder}/") if sign == "/" and at)]
            ranked = [ranked for part in above for ranked in self._sources.get(part, ())]
            self._chains[folder] = [source for *_, source in sorted(ranked, key=lambda ranked: ranked[:2])]
        return self._chains[folder]

    def _text(self, path: str, parent: str = "") -> str | None:
        try:
            return self._files.read(self._folder.root, path).decode("utf-8", "replace")
        except SourceMissing:
            return None
        except SourceUnreadable as error:
            self.unreadable[parent] = f"{path}: {error.reason}"
            return None

    def _add_settings(self, path: str, text: str | None, outer: str = "") -> None:
        if text is None:
            return
        try:
            self._add(_EDITOR_RANK, RuleSource(*settings_rules(path, text)), outer)
        except ValueError as error:
            self.unreadable[""] = f"{path}: {error}"

    def _add(self, rank: int, source: RuleSource, outer: str = "") -> None:
        """Add rules of a file in the collection, or in the folder *outer* above it."""
        depth = source.folder.count("/") + 1 if source.folder else 0
        if outer:  # a person has chosen the folder, even if such a rule excludes it
            inner = PurePath(self._folder.root).relative_to(outer)
            places = [f"{place.as_posix()}/" for place in (inner, *inner.parents[:-1])]
            rules = [rule for rule in source.rules if not any(map(rule.matches, places))]
            source, depth = source._replace(rules=rules, prefix=inner.as_posix()), -len(inner.parts)
        self._sources.setdefault(source.folder, []).append((rank, -depth, source))
        self._chains.clear()
