"""Tools whose memories are Markdown files: Basic Memory, memsearch and OpenClaw."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

from clawmem.adapters.imports.reading import store_of, text_of
from clawmem.ports.imports import ForeignMemory, ForeignRelation, StoreUnreadable, Unmatched

_FENCE = "---\n"
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_RELATION = re.compile(r"- (?:([A-Za-z_ -]{1,60}) )?\[\[([^\[\]|]{1,200})")
_DATES = ("created", "created_at", "date", "modified", "updated")


class _NoteFile(NamedTuple):
    path: str
    fields: Mapping[str, str]
    tags: tuple[str, ...]
    body: str
    written_at: str

    @property
    def id(self) -> str:
        return self.fields.get("permalink") or self.path

    @property
    def title(self) -> str:
        return self.fields.get("title") or Path(self.path).stem


Select = Callable[[Path], bool]


def _read(tool: str, selects: Select, place: Path) -> Iterator[ForeignMemory | Unmatched]:
    """Yield every Markdown file below *place* that *selects* accepts, by its relative path."""
    if not place.is_dir():
        raise StoreUnreadable(tool, str(place), "there is no such folder")
    paths = sorted(path.relative_to(place) for path in _files(place) if path.suffix.lower() == ".md")
    chosen = [path for path in paths if selects(path)]
    if not chosen:
        raise StoreUnreadable(tool, str(place), "the folder has none of its Markdown files")
    notes = [_note(tool, place, path) for path in chosen]
    ids = {name: note.id for note in notes for name in (note.title, note.path, note.id)}
    yield from [Unmatched("other file")] * (len(paths) - len(chosen))
    for note in notes:
        yield _memory(note, ids) if note.body.strip() else Unmatched("empty file")


def _files(place: Path) -> Iterator[Path]:
    """Yield regular files, without those of hidden folders below *place*; symbolic links are not followed."""
    for folder, folders, names in os.walk(place):
        folders[:] = [one for one in folders if not one.startswith(".")]
        paths = (Path(folder) / name for name in names)
        yield from (path for path in paths if path.is_file() and not path.is_symlink())


def _note(tool: str, place: Path, path: Path) -> _NoteFile:
    head, body = _parts(text_of(tool, place / path))
    fields, tags = _fields(head.split("\n"))
    found = _DAY.search(path.name)
    day = next((fields[one] for one in _DATES if fields.get(one)), found[0] if found else "")
    changed = datetime.fromtimestamp((place / path).stat().st_mtime, UTC).isoformat()
    return _NoteFile(path.as_posix(), fields, tags, body, day or changed)


def _parts(source: str) -> tuple[str, str]:
    """Return the front matter and the body of a file."""
    head, fence, body = source.removeprefix(_FENCE).partition(f"\n{_FENCE}")
    return (head, body) if source.startswith(_FENCE) and fence else ("", source)


def _fields(lines: Sequence[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the plain values of front matter, and its tags, in a list on one line or on several."""
    fields: dict[str, str] = {}
    tags: list[str] = []
    key = ""
    for line in lines:
        name, colon, value = line.partition(":")
        if colon and name.isidentifier():
            key, value = name, value.strip()
            fields[key] = value.strip("\"'")
            tags += value.strip("[]").split(",") if key == "tags" else []
        elif key == "tags" and line.lstrip().startswith("- "):
            tags.append(line.lstrip()[2:])
    return fields, tuple(filter(None, (one.strip(" \"'#") for one in tags)))


def _memory(note: _NoteFile, ids: Mapping[str, str]) -> ForeignMemory:
    related = (
        ForeignRelation(ids[target.strip()], (kind or "links_to").strip())
        for kind, target in _RELATION.findall(note.body)
        if target.strip() in ids and ids[target.strip()] != note.id
    )
    return ForeignMemory(
        note.id,
        note.body.strip(),
        note.title,
        note.fields.get("type", "note"),
        note.written_at,
        note.tags,
        project=note.fields.get("project", ""),
        relations=tuple(dict.fromkeys(related)),
    )


def _is_any(path: Path) -> bool:
    return True


def _is_openclaw(path: Path) -> bool:
    return path.name == "MEMORY.md" or "memory" in path.parts[:-1]


STORES = tuple(
    store_of(tool, usual, partial(_read, tool, selects))
    for tool, usual, selects in (
        ("basic-memory", ("basic-memory",), _is_any),
        ("memsearch", (".memsearch/memory",), _is_any),
        ("openclaw", (".openclaw/workspace",), _is_openclaw),
    )
)
