"""Exclusion of files by patterns in the syntax of .gitignore, and by the settings of Obsidian and Logseq."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

MAX_RULE_LENGTH = 1000  # characters; a longer line is no path
MAX_RULES = 10_000  # of one file; more make every file slow to test

# The folder or file, below the folder of notes, that each program writes there; the first one that is found counts.
_APPS = {
    ".obsidian": "Obsidian",
    "logseq/config.edn": "Logseq",
    ".foam": "Foam",
    ".vscode/foam.json": "Foam",
}
MARKS = frozenset(_APPS)
OBSIDIAN, LOGSEQ_FILE = ".obsidian", "logseq/config.edn"
# Name of the setting for people, and its key.
OBSIDIAN_FILES = {
    f"{OBSIDIAN}/app.json": ("the setting 'Excluded files' of Obsidian", "userIgnoreFilters"),
    f"{OBSIDIAN}/templates.json": ("the template folder of Obsidian", "folder"),
    f"{OBSIDIAN}/plugins/templater-obsidian/data.json": (
        "the template folder of Templater",
        "templates_folder",
    ),
}
_NESTED_REPETITION = re.compile(r"[*+}]\)\s*[*+{]")  # takes exponential time in a regular expression


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


@dataclass(frozen=True, slots=True)
class Exclusion:
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


def app_of(marks: Collection[str]) -> str:
    """Return the program of a folder in which the *marks* are; an empty string for plain Markdown."""
    return next((app for mark, app in _APPS.items() if mark in marks), "")


def settings_rules(path: str, text: str) -> tuple[str, list[IgnoreRule]]:
    """
    Return the name of the setting in *path*, one of `OBSIDIAN_FILES` or `LOGSEQ_FILE`, and the rules that it contains.

    Obsidian excludes the beginnings of paths, without case, and regular expressions between slashes. Expressions that
    are invalid or repeat a repetition are skipped, as are values of other types. Logseq hides the beginnings of paths
    in ``:hidden``, and keeps backups.

    Raises:
        ValueError: *text* is no JSON, so its rules are unknown.
    """
    if path == LOGSEQ_FILE:
        code = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith(";"))
        hidden = code.partition(":hidden")[2].partition("[")[2].partition("]")[0].split('"')[1::2]
        name, filters = "the settings of Logseq", ["/logseq/bak/", "/logseq/version-files/", *hidden]
    else:
        name, key = OBSIDIAN_FILES[path]
        try:
            settings = json.loads(text.removeprefix("\ufeff"))
        except (ValueError, RecursionError) as error:
            raise ValueError("it is no JSON") from error
        value = settings.get(key) if isinstance(settings, dict) else None
        filters = [f"{value}/"] if isinstance(value, str) else value if isinstance(value, list) else []
    rules = []
    for pattern in filters:
        if not isinstance(pattern, str) or not pattern.strip("/ ") or len(pattern) > MAX_RULE_LENGTH:
            continue
        if path in OBSIDIAN_FILES and pattern.startswith("/") and pattern.endswith("/"):
            if not _NESTED_REPETITION.search(pattern):
                with suppress(re.error):
                    rules.append(IgnoreRule(0, pattern, re.compile(pattern[1:-1])))
        else:  # the outermost folders and files that begin so, and not those below them
            beginning = re.escape(composed(pattern.lstrip("/")))
            end = "" if beginning.endswith("/") else "[^/]*/?"
            rule = re.compile(rf"\A{beginning}{end}\Z", re.IGNORECASE)
            rules.append(IgnoreRule(0, pattern.strip("/"), rule))
    return name, rules
