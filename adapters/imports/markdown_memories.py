"""Tools whose memories are Markdown files: Basic Memory and OpenClaw."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from clawmem.adapters.imports.reading import NoStore, text_of
from clawmem.ports.imports import ForeignMemory, ForeignRelation, Unmatched

_RULER = re.compile(r"^---\r?$", re.MULTILINE)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_RELATION = re.compile(r"- (?:([A-Za-z_ -]{1,60}) )?\[\[([^\[\]|]{1,200})")
_DATES = ("created", "created_at", "date", "modified", "updated")


class _NoteFile(NamedTuple):
    path: Path
    body: str
    fields: dict[str, Any]

    def field(self, *names: str, usual: str = "") -> str:
        texts = (value.strip() for name in names if isinstance(value := self.fields.get(name), str))
        return next(filter(None, texts), usual)

    @property
    def id(self) -> str:
        return self.field("permalink", usual=self.path.as_posix())

    @property
    def title(self) -> str:
        return self.field("title", usual=self.path.stem)


def _read(selects: Callable[[Path], bool], place: Path) -> Iterator[ForeignMemory | Unmatched]:
    """Yield every Markdown file below *place* that *selects* accepts, by its relative path."""
    if not place.is_dir():
        raise NoStore("there is no such folder")
    files = (file for file in place.rglob("*.md") if file.is_file() and not file.is_symlink())
    paths = sorted(file.relative_to(place) for file in files)
    paths = [path for path in paths if not any(part.startswith(".") for part in path.parts[:-1])]
    notes = [_note(text_of(place / path), path) for path in paths if selects(path)]
    if not notes:
        raise NoStore("the folder has none of its Markdown files")
    ids = {name: note.id for note in notes for name in (note.title, note.path.as_posix(), note.id)}
    yield from [Unmatched("other file")] * (len(paths) - len(notes))
    for note in notes:
        if not note.body.strip():
            yield Unmatched("empty file")
            continue
        tags = note.fields.get("tags") or ()
        relations = (
            ForeignRelation(ids[target.strip()], (kind or "links_to").strip())
            for kind, target in _RELATION.findall(note.body)
            if ids.get(target.strip(), note.id) != note.id
        )
        day = _DAY.search(note.path.name)
        changed = datetime.fromtimestamp((place / note.path).stat().st_mtime, UTC).isoformat()
        yield ForeignMemory(
            note.id,
            note.body.strip(),
            note.title,
            note.field("type", usual="note"),
            note.field(*_DATES, usual=day[0] if day else changed),
            tuple(str(tag).strip(" #") for tag in (tags.split(",") if isinstance(tags, str) else tags)),
            project=note.field("project"),
            relations=tuple(dict.fromkeys(relations)),
        )


def _note(source: str, path: Path) -> _NoteFile:
    above, front, body = [*_RULER.split(source, maxsplit=2), "", ""][:3]
    if not above and front:
        try:
            fields = YAML(typ="base", pure=True).load(front)  # every value is a text
        except (YAMLError, ValueError, RecursionError):
            return _NoteFile(path, source, {})
        return _NoteFile(path, body, fields if isinstance(fields, dict) else {})
    return _NoteFile(path, source, {})


basic_memory = partial(_read, lambda path: True)
openclaw = partial(_read, lambda path: path.name == "MEMORY.md" or "memory" in path.parts[:-1])
