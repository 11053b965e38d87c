"""Matching of a line of text to the file it names, and to no other file with the same base name."""

from __future__ import annotations

import re

# Base names that occur in every project and therefore identify no file on their own.
EVERYWHERE = frozenset(
    "__init__ __main__ app base changelog common config conftest constants dockerfile errors index license main "
    "makefile mod models package readme routes schema settings setup styles tests types util utils views".split()
)
MOST_FILES = 3
_SUFFIX = re.compile(r"\w\.[A-Za-z]\w{0,9}$")
_PATH = re.compile(r"(?:[A-Za-z]:)?[\w.@+~-]*(?:[/\\]+[\w.@+~-]+)*")


def file_name(path: str) -> str:
    """Return the base name of *path* in its own spelling, for any operating system; empty for a folder path."""
    return path.replace("\\", "/").rpartition("/")[2]


def names_file(line: str, path: str) -> bool:
    """
    Whether *line* names the file at *path*, an absolute or relative path of any operating system.

    A path in the line matches if it is a suffix of *path*, folder by folder, or the reverse, ignoring case. A bare
    name matches unless it is common to all projects (``index.ts``, ``README.md``). A line with more than three
    file names is a listing and matches none of them.
    """
    touched = _parts(path)
    paths = [match[0] for match in _PATH.finditer(line) if match[0]]
    if not touched or sum(map(bool, map(_SUFFIX.search, paths))) > MOST_FILES:
        return False
    return any(_is_same(_parts(path), touched) for path in paths if touched[-1] in path.lower())


def _is_same(named: list[str], touched: list[str]) -> bool:
    shared = min(len(named), len(touched))
    if not shared or named[-shared:] != touched[-shared:]:
        return False
    return shared > 1 or len(touched) == 1 or touched[-1].partition(".")[0] not in EVERYWHERE


def _parts(path: str) -> list[str]:
    plain = path.lower().replace("\\", "/").rstrip(".")
    return [part for part in plain.split("/") if part not in ("", ".", "..") and not part.endswith(":")]
