"""Whether a line speaks of a file: of that one, and not of another of the same name."""

from __future__ import annotations

import re

# Names of which every project has many: on their own they say nothing.
EVERYWHERE = frozenset(
    "__init__ __main__ app base changelog common config conftest constants dockerfile errors index license main "
    "makefile mod models package readme routes schema settings setup styles tests types util utils views".split()
)
MOST_FILES = 3
_SUFFIX = re.compile(r"\w\.[A-Za-z]\w{0,9}$")
_PATH = re.compile(r"(?:[A-Za-z]:)?[\w.@+~-]*(?:[/\\]+[\w.@+~-]+)*")


def file_name(path: str) -> str:
    """The name of the file at *path*, of any system, in its own letters; empty for a folder's."""
    return path.replace("\\", "/").rpartition("/")[2]


def names_file(line: str, path: str) -> bool:
    """
    Whether *line* names the file at *path*, an absolute or relative path of any system.

    A path in the line has to be the end of *path*, folder by folder, or the other way round; letters' case does
    not matter. A bare name counts, unless every project has files of that name (``index.ts``, ``README.md``). A
    line with more than three files lists them and says nothing of any.
    """
    touched = _parts(path)
    named = [found[0] for found in _PATH.finditer(line) if found[0]]
    if not touched or sum(map(_has_suffix, named)) > MOST_FILES:
        return False
    return any(_is_same(_parts(one), touched) for one in named if touched[-1] in one.lower())


def _has_suffix(name: str) -> bool:
    return _SUFFIX.search(name) is not None


def _is_same(named: list[str], touched: list[str]) -> bool:
    shared = min(len(named), len(touched))
    if not shared or named[-shared:] != touched[-shared:]:
        return False
    return shared > 1 or len(touched) == 1 or touched[-1].partition(".")[0] not in EVERYWHERE


def _parts(path: str) -> list[str]:
    plain = path.lower().replace("\\", "/").rstrip(".")
    return [part for part in plain.split("/") if part not in ("", ".", "..") and not part.endswith(":")]
