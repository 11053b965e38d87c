"""Rules that exclude files of one collection, collected while its folder is scanned."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from operator import itemgetter
from pathlib import PurePath
from typing import TYPE_CHECKING

from clawmem.domain.documents.eligibility import is_excluded
from clawmem.domain.documents.names import READABLE
from clawmem.ports.errors import SourceMissing, SourceUnreadable
from clawmem.ports.files import FileSource

if TYPE_CHECKING:
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    from clawmem.app.services.indexing.folders import Folder

GIT, OWN = ".gitignore", ".clawmemignore"
BUILT_IN = "the built-in rules"
_CONFIG_RANK, _OWN_RANK, _GIT_RANK = range(3)


@dataclass(frozen=True, slots=True)
class Exclusion:
    """The rule that excludes a path: the file or setting, the line (0 without lines), and the pattern as written."""

    source: str
    line: int
    pattern: str

    def __str__(self) -> str:
        return f"{self.source}{f', line {self.line}' if self.line else ''} ({self.pattern})"


class RuleSource:
    """
    The rules of one file or setting; the last one that matches decides. Invalid lines are skipped.

    Args:
        name: Name of the file or setting.
        lines: Patterns in the syntax of .gitignore.
        folder: The folder below which the rules apply, relative to the collection.
        is_numbered: Whether a person has written the lines.
    """

    def __init__(
        self, name: str, lines: Iterable[str], folder: str = "", *, is_numbered: bool = True
    ) -> None:
        from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

        self.folder = folder
        self._rules: list[tuple[GitIgnoreSpecPattern, Exclusion]] = []
        for number, line in enumerate(lines, start=1):
            with suppress(ValueError, re.error):
                pattern = GitIgnoreSpecPattern(_composed(line))
                self._rules.append((pattern, Exclusion(name, number if is_numbered else 0, line.strip())))

    def decision(self, path: str, *, is_folder: bool) -> tuple[bool, Exclusion] | None:
        """Return whether the last rule that matches *path*, which is below ``folder``, excludes it, and the rule."""
        place = _composed(path.removeprefix(f"{self.folder}/") if self.folder else path)
        place += "/" if is_folder else ""
        for pattern, rule in reversed(self._rules):
            match = pattern.regex.search(place) if pattern.regex else None
            # A rule of a folder above decides about that folder alone, since another source may include the path.
            if match and (not match.groupdict().get("ps_d") or match.end() == len(place)):
                return bool(pattern.include), rule
        return None


def _composed(text: str) -> str:
    """Return *text* in Unicode NFC, since macOS decomposes names of files and editors compose letters."""
    return unicodedata.normalize("NFC", text)


class Exclusions:
    """
    The rules that exclude paths of *folder*.

    Rules of the config file go before those of .clawmemignore, then those of .gitignore; of one kind, the file in the
    deeper folder goes first. Call `note` with every path of a scan, which makes it read ignore files before the files
    that they may exclude.

    ``unreadable`` are folders whose ignore file cannot be read: no record below them is changed.
    """

    def __init__(self, files: FileSource, folder: Folder) -> None:
        self._files = files
        self._folder = folder
        self._sources: dict[str, list[tuple[int, RuleSource]]] = {}  # by folder, with their ranks
        self.counts: Counter[str] = Counter()
        self.unreadable: dict[str, str] = {}
        if folder.exclude:
            configured = RuleSource("exclude in the config file", folder.exclude, is_numbered=False)
            self._sources[""] = [(_CONFIG_RANK, configured)]

    def note(self, path: str) -> None:
        """Read *path* if it is an ignore file."""
        parent, _, name = path.rpartition("/")
        if name == OWN or (name == GIT and self._folder.gitignore):
            try:
                text = self._files.read(self._folder.root, path).decode("utf-8", "replace")
                lines = text.removeprefix("\ufeff").splitlines()
                entry = (_OWN_RANK if name == OWN else _GIT_RANK, RuleSource(path, lines, parent))
                self._sources.setdefault(parent, []).append(entry)
            except SourceMissing:
                return
            except SourceUnreadable as error:
                self.unreadable[parent] = f"{path}: {error.reason}"

    def counted(self, path: str, *, is_folder: bool) -> bool:
        """
        Whether a rule excludes *path*, whose folders are not excluded. Counts it by the source of the rule.

        Hidden files and private folders are not counted.
        """
        rule = self._rule(path, is_folder=is_folder)
        if rule and rule.source != BUILT_IN:
            self.counts[rule.source] += 1
        elif rule and not rule.pattern.startswith((".", "_")):
            self.counts[f"{BUILT_IN} ({rule.pattern})"] += 1
        return rule is not None or path.rpartition("/")[0] in self.unreadable

    def passed_over(self, path: str) -> bool:
        """Count a readable file that the pattern does not match, unless a rule excludes it; return False."""
        if path.lower().endswith(READABLE) and not self._rule(path, is_folder=False):
            self.counts[f"the pattern {self._folder.pattern} ({PurePath(path).suffix})"] += 1
        return False

    def why_unreadable(self, path: str) -> str:
        """Return why nothing below the folder *path* can be listed."""
        if path not in self.unreadable:
            return f"{path} could not be listed"
        return f"The rules that exclude files of {path or 'the folder'} could not be read ({self.unreadable[path]})"

    def explained(self, path: str, *, is_folder: bool = False) -> tuple[str, Exclusion] | None:
        """Return the first part of *path* that is excluded, with the rule. A scan must have met its folders."""
        names = path.split("/")
        for end in range(1, len(names) + 1):
            part = "/".join(names[:end])
            if rule := self._rule(part, is_folder=is_folder or end < len(names)):
                return part, rule
        return None

    def _rule(self, path: str, *, is_folder: bool) -> Exclusion | None:
        """Return the rule that excludes *path*, whose folders are not excluded; the first source that matches decides."""
        folder, _, name = path.rpartition("/")
        if is_excluded(path, self._folder.include):
            return Exclusion(BUILT_IN, 0, name)
        parts = folder.split("/") if folder else []
        above = ("/".join(parts[:end]) for end in range(len(parts), -1, -1))  # the deepest first
        entries = (entry for place in above for entry in self._sources.get(place, ()))
        for _, source in sorted(entries, key=itemgetter(0)):
            if decision := source.decision(path, is_folder=is_folder):
                return decision[1] if decision[0] else None
        return None
