"""Exclusion of files by patterns in the syntax of .gitignore."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from fnmatch import translate
from typing import NamedTuple

from clawmem.domain.documents.eligibility import compile_glob

MAX_RULE_LENGTH = 1000  # characters; a longer line is no path
MAX_RULES = 10_000  # of one file; more make every file slow to test

_ESCAPED = re.compile(r"\\(.)")
_NEGATED_SET = re.compile(r"\[\^")
_NO_NAME = re.compile(r"(?!)")


class IgnoreRule(NamedTuple):
    """
    One pattern. ``matches`` tests a path relative to the folder of the pattern's file.

    ``name_regex`` is set for a pattern without a slash, which is compared with the last name of the path.
    """

    line: int
    text: str
    matches: Callable[[str], bool]
    excludes: bool = True
    only_folders: bool = False
    name_regex: str = ""


class Exclusion(NamedTuple):
    """The rule that excludes a path: the file or setting, the line (0 without lines), and the pattern as written."""

    source: str
    line: int
    pattern: str

    def __str__(self) -> str:
        return (
            f"{self.source}, line {self.line} ({self.pattern})"
            if self.line
            else f"{self.source} ({self.pattern})"
        )


class RuleSource:
    """
    The rules of one file or setting.

    Args:
        name: The file or setting, for people.
        rules: In the order of the file; the last one that matches decides.
        folder: The folder below which the rules apply, relative to the collection.
        prefix: For a file above the collection: the path of the collection from there.
    """

    def __init__(self, name: str, rules: Sequence[IgnoreRule], folder: str = "", prefix: str = "") -> None:
        self.name = name
        self._before = f"{folder}/" if folder else ""
        self._prefix = f"{prefix}/" if prefix else ""
        self._rules = tuple(reversed(rules))
        self._with_slash = tuple(rule for rule in self._rules if not rule.name_regex)
        names = [rule.name_regex for rule in rules if rule.name_regex]
        self._any_name = re.compile("|".join(names)) if names else _NO_NAME

    def decisive(self, path: str, *, is_folder: bool) -> IgnoreRule | None:
        """Return the last rule that matches *path*, a path below ``folder``."""
        path = composed(self._prefix + path.removeprefix(self._before))
        is_named = self._any_name.match(path.rpartition("/")[2])
        for rule in self._rules if is_named else self._with_slash:
            if (is_folder or not rule.only_folders) and rule.matches(path):
                return rule
        return None


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
    """
    Return the rules of a text in the syntax of .gitignore.

    ``#`` begins a comment and ``!`` negates; a backslash before either, or before a wildcard or a blank at the end,
    makes it literal. A pattern with a slash at its start or inside is relative to the folder of the file, any other
    matches names at every depth. A slash at the end selects folders. ``*``, ``?``, sets and ``**`` are as in
    `compile_pattern`, without braces. Lines of more than `MAX_RULE_LENGTH` characters are skipped.
    """
    lines = composed(text).removeprefix("\ufeff").split("\n")[:MAX_RULES]
    rules = (_git_rule(number, line.removesuffix("\r")) for number, line in enumerate(lines, start=1))
    return [rule for rule in rules if rule]


def _git_rule(number: int, line: str) -> IgnoreRule | None:
    text = _without_trailing_blanks(line)
    if not text or text.startswith("#") or len(text) > MAX_RULE_LENGTH:
        return None
    glob = text.removeprefix("!")
    only_folders = glob.endswith("/")
    glob = _plain_glob(glob.removesuffix("/"))
    if not glob:
        return None
    excludes = not text.startswith("!")
    if "/" in glob:
        return IgnoreRule(number, text, compile_glob(glob.removeprefix("/")), excludes, only_folders)
    regex = translate(glob)
    test = re.compile(regex)
    return IgnoreRule(
        number,
        text,
        lambda path: test.match(path.rpartition("/")[2]) is not None,
        excludes,
        only_folders,
        regex,
    )


def _without_trailing_blanks(line: str) -> str:
    """Return *line* without blanks at its end; a blank after a backslash stays."""
    text = line.rstrip(" ")
    return f"{text} " if text.endswith("\\") and text != line else text


def _plain_glob(glob: str) -> str:
    """Return *glob* with sets instead of backslashes, and ``!`` as the negation of sets."""
    return _NEGATED_SET.sub(
        "[!", _ESCAPED.sub(lambda one: f"[{one[1]}]" if one[1] in "*?[" else one[1], glob)
    )


def composed(text: str) -> str:
    """Return *text* in Unicode NFC, since macOS decomposes names of files and editors compose letters."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)
