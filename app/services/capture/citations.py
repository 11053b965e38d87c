"""Files that captured sentences cite, and whether they changed since."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from hashlib import sha256
from itertools import islice
from pathlib import Path

from clawmem.app.environment.session_topics import project_of
from clawmem.app.services.capture.visibility import PROJECT
from clawmem.ports.documents import Property

CITES = "cites"  # property of a memory: a path in the work tree, perhaps lines, and the hash of what is there
CHANGED = "the file changed since"
MOST_CITED, MOST_BYTES = 5, 1 << 20  # files of a sentence, and bytes of each
_LINES = r":(?P<first>[1-9]\d{0,6})(?:-(?P<last>[1-9]\d{0,6}))?"
_WITH_LINES = re.compile(rf"(?<![\w/.])(?P<path>[\w./@+~-]{{1,300}}\w){_LINES}(?![\w:])")
_QUOTED = re.compile(rf"`(?P<path>[^`\n:]{{1,300}})(?:{_LINES})?`")
_VALUE = re.compile(rf"\A(?P<path>[^\n:]{{1,300}})(?:{_LINES})? (?P<hash>[0-9a-f]{{64}})")


def citations(sentence: str, folder: str) -> list[str]:
    """Return the files of the work tree around *folder* that *sentence* cites, as values of `CITES`."""
    if not project_of(folder):
        return []
    tree = _tree_of(folder)
    found: dict[str, str] = {}
    for match in (*_WITH_LINES.finditer(sentence), *_QUOTED.finditer(sentence)):
        for base in (Path(folder), tree):
            file = _inside(base / match["path"], tree)
            if file and (digest := _hash_of(file, match["first"], match["last"])):
                lines = sentence[match.end("path") : match.end()].strip("`")
                found.setdefault(f"{file.relative_to(tree).as_posix()}{lines}", digest)
                break
    return [f"{place} {digest}" for place, digest in islice(found.items(), MOST_CITED)]


def is_outdated(properties: Iterable[Property], folder: str) -> bool:
    """Whether a file that a memory of the project of *folder* cites changed since, or is gone."""
    values: dict[str, list[str]] = {PROJECT: [], CITES: []}
    for given in properties:
        values.get(given.name, []).append(given.value)
    if not values[CITES] or (project := project_of(folder)) not in values[PROJECT] or not project:
        return False
    tree = _tree_of(folder)
    cited = filter(None, map(_VALUE.fullmatch, values[CITES][:MOST_CITED]))
    return any(_hash_of(_inside(tree / c["path"], tree), c["first"], c["last"]) != c["hash"] for c in cited)


def _tree_of(folder: str) -> Path:
    """Return the root of the work tree of *folder*, which may not be that of its project; else the folder."""
    start = Path(folder).resolve()
    return next((root for root in (start, *start.parents) if (root / ".git").exists()), start)


def _inside(path: Path, tree: Path) -> Path | None:
    """Return the real path of a regular file in *tree*; ``None`` for anything else."""
    with suppress(OSError, ValueError):
        file = path.resolve()
        if file.is_relative_to(tree) and file.is_file():
            return file
    return None


def _hash_of(file: Path | None, first: str | None, last: str | None) -> str:
    """Return the SHA-256 of lines of *file*, or of all of it; empty if it, or they, cannot be read."""
    with suppress(OSError):
        if file and file.stat().st_size <= MOST_BYTES:
            content = file.read_bytes()
            lines = content.splitlines()[int(first) - 1 : int(last or first)] if first else [content]
            return sha256(b"\n".join(lines)).hexdigest() if lines else ""
    return ""
