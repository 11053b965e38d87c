"""Files that captured sentences cite, and whether they changed since."""

from __future__ import annotations

import re
from collections.abc import Collection
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
            path, digest = _cited(base / match["path"], tree, match["first"], match["last"])
            if digest:
                lines = sentence[match.end("path") : match.end()].strip("`")
                found.setdefault(f"{path}{lines}", digest)
                break
    return [f"{place} {digest}" for place, digest in islice(found.items(), MOST_CITED)]


def is_outdated(properties: Collection[Property], folder: str) -> bool:
    """Whether a file that a memory of the project of *folder* cites changed since, or is gone."""
    cited = [
        match for given in properties if given.name == CITES and (match := _VALUE.fullmatch(given.value))
    ]
    projects = {given.value for given in properties if given.name == PROJECT}
    if not cited or (project := project_of(folder)) not in projects or not project:
        return False
    tree = _tree_of(folder)
    return any(
        _cited(tree / match["path"], tree, match["first"], match["last"])[1] != match["hash"]
        for match in cited[:MOST_CITED]
    )


def _tree_of(folder: str) -> Path:
    """Return the root of the work tree of *folder*, which may not be that of its project; else the folder."""
    start = Path(folder).resolve()
    return next((root for root in (start, *start.parents) if (root / ".git").exists()), start)


def _cited(path: Path, tree: Path, first: str | None, last: str | None) -> tuple[str, str]:
    """
    Return the real path of a regular file in *tree*, and the SHA-256 of its lines, or of all of it.

    Both are empty for anything else, and if the lines cannot be read.
    """
    with suppress(OSError, ValueError):
        file = path.resolve()
        if file.is_relative_to(tree) and file.is_file() and file.stat().st_size <= MOST_BYTES:
            content = file.read_bytes()
            lines = content.splitlines()[int(first) - 1 : int(last or first)] if first else [content]
            if lines:
                return file.relative_to(tree).as_posix(), sha256(b"\n".join(lines)).hexdigest()
    return "", ""
