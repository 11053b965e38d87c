"""Tools whose memories are Markdown files: Basic Memory and OpenClaw."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from clawmem.adapters.imports.reading import text_of
from clawmem.ports.errors import StoreUnreadable
from clawmem.ports.imports import ForeignMemory, ForeignRelation, Unmatched

_RULER = re.compile(r"^---\r?$", re.MULTILINE)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_RELATION = re.compile(r"- (?:([A-Za-z_ -]{1,60}) )?\[\[([^\[\]|]{1,200})")
_DATES = ("created", "created_at", "date", "modified", "updated")


class _NoteFile(NamedTuple):
    path: str
    fields: Mapping[str, Any]
    body: str
    written_at: str

    def field(self, name: str, usual: str = "") -> str:
        value = self.fields.get(name)
        return value.strip() if isinstance(value, str) and value.strip() else usual

    @property
    def id(self) -> str:
        return self.field("permalink", self.path)

    @property
    def title(self) -> str:
        return self.field("title", Path(self.path).stem)


def _read(tool: str, selects: Callable[[Path], bool], place: Path) -> Iterator[ForeignMemory | Unmatched]:
    """Yield every Markdown file below *place* that *selects* accepts, by its relative path."""
    if not place.is_dir():
        raise StoreUnreadable(tool, str(place), "there is no such folder")
    paths = sorted(path.relative_to(place) for path in _markdown_files(place))
    notes = [_note(tool, place, path) for path in paths if selects(path)]
    if not notes:
        raise StoreUnreadable(tool, str(place), "the folder has none of its Markdown files")
    ids = {name: note.id for note in notes for name in (note.title, note.path, note.id)}
    yield from [Unmatched("other file")] * (len(paths) - len(notes))
    for note in notes:
        if not note.body.strip():
            yield Unmatched("empty file")
            continue
        tags = note.fields.get("tags") or ()
        relations = (
            ForeignRelation(ids[target.strip()], (kind or "links_to").strip())
            for kind, target in _RELATION.findall(note.body)
            if target.strip() in ids and ids[target.strip()] != note.id
        )
        yield ForeignMemory(
            note.id,
            note.body.strip(),
            note.title,
            note.field("type", "note"),
            note.written_at,
            tuple(str(tag).strip(" #") for tag in (tags.split(",") if isinstance(tags, str) else tags)),
            project=note.field("project"),
            relations=tuple(dict.fromkeys(relations)),
        )


def _markdown_files(place: Path) -> Iterator[Path]:
    """Yield regular files, without those of hidden folders below *place*; symbolic links are not followed."""
    for folder, folders, names in os.walk(place):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for path in (Path(folder, name) for name in names if name.lower().endswith(".md")):
            if path.is_file() and not path.is_symlink():
                yield path


def _note(tool: str, place: Path, path: Path) -> _NoteFile:
    """Return a note; its time is declared, in the name of the file, or that of its last change."""
    source = text_of(tool, place / path)
    above, front, body = [*_RULER.split(source, maxsplit=2), "", ""][:3]
    fields: Any = None
    if not above and front:
        try:
            fields = YAML(typ="base", pure=True).load(front)  # every value is a text
        except (YAMLError, ValueError, RecursionError):
            body = source
    note = _NoteFile(
        path.as_posix(),
        fields if isinstance(fields, dict) else {},
        body if not above and front else source,
        "",
    )
    day = _DAY.search(path.name)
    changed = datetime.fromtimestamp((place / path).stat().st_mtime, UTC).isoformat()
    written_at = next(filter(None, map(note.field, _DATES)), day[0] if day else changed)
    return note._replace(written_at=written_at)


basic_memory = partial(_read, "basic-memory", lambda path: True)
openclaw = partial(_read, "openclaw", lambda path: path.name == "MEMORY.md" or "memory" in path.parts[:-1])
