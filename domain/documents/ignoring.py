"""Exclusion of files by patterns in the syntax of .gitignore."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern


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
