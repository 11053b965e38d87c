"""Exclusion of files by patterns in the syntax of .gitignore."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

MAX_RULE_LENGTH = 1000  # characters; a longer line is no path
MAX_RULES = 10_000  # of one file; more make every file slow to test


class IgnoreRule(NamedTuple):
    """
    One pattern, and whether it excludes or includes.

    ``regex`` is searched in a path relative to the folder of the pattern's file, with a slash at the end of a folder.
    """

    line: int
    text: str
    regex: re.Pattern[str]
    excludes: bool = True

    def matches(self, path: str) -> bool:
        """Whether *path* itself matches, and not a folder above it."""
        match = self.regex.search(path)
        return match is not None and (not match.groupdict().get("ps_d") or match.end() == len(path))


class Exclusion(NamedTuple):
    """The rule that excludes a path: the file or setting, the line (0 without lines), and the pattern as written."""

    source: str
    line: int
    pattern: str

    def __str__(self) -> str:
        return f"{self.source}{f', line {self.line}' if self.line else ''} ({self.pattern})"


class RuleSource(NamedTuple):
    """The rules of one file or setting in their order; the last one that matches decides."""

    name: str
    rules: Sequence[IgnoreRule]
    folder: str = ""  # the folder below which the rules apply, relative to the collection
    prefix: str = ""  # for a file above the collection: the path of the collection from there

    def decisive(self, path: str, *, is_folder: bool) -> IgnoreRule | None:
        """Return the last rule that matches *path*, a path below ``folder``."""
        below = path.removeprefix(f"{self.folder}/") if self.folder else path
        place = composed(f"{self.prefix}/{below}" if self.prefix else below) + ("/" if is_folder else "")
        return next((rule for rule in reversed(self.rules) if rule.matches(place)), None)


def exclusion_of(path: str, sources: Iterable[RuleSource], *, is_folder: bool) -> Exclusion | None:
    """
    Return the rule that excludes *path*; the first of *sources* with a rule that matches decides.

    The folders above *path* are not tested: a file below an excluded folder is excluded, even if a rule includes it.
    """
    for source in sources:
        rule = source.decisive(path, is_folder=is_folder)
        if rule:
            return Exclusion(source.name, rule.line, rule.text) if rule.excludes else None
    return None


def git_rules(text: str) -> list[IgnoreRule]:
    """Return the rules of a text in the syntax of .gitignore; invalid lines and very long ones are skipped."""
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    rules = []
    for number, line in enumerate(composed(text).removeprefix("\ufeff").splitlines()[:MAX_RULES], start=1):
        if line.strip().strip("!") and len(line) <= MAX_RULE_LENGTH:
            pattern = GitIgnoreSpecPattern(line)
            if pattern.regex is not None:
                rules.append(IgnoreRule(number, line.strip(), pattern.regex, bool(pattern.include)))
    return rules


def composed(text: str) -> str:
    """Return *text* in Unicode NFC, since macOS decomposes names of files and editors compose letters."""
    return unicodedata.normalize("NFC", text)
