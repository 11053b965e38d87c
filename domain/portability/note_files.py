"""Markdown files of an export: their names and their text."""

from __future__ import annotations

import json
import re
from collections.abc import Container
from typing import NamedTuple

from clawmem.ports.records import Document

_UNSAFE = re.compile(r'[\x00-\x1f\x7f<>:"|?*\\]')  # refused by some file system, or no part of a name
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)
_TEXT = (".md", ".markdown", ".txt")
_LONGEST_PART = 120  # characters; 255 bytes are the most in common file systems


class NoteFile(NamedTuple):
    """The Markdown file of a note; its body begins at the character ``start`` of ``text``."""

    name: str
    text: str
    start: int


def note_file(document: Document, body: str, taken: Container[str]) -> NoteFile:
    """
    Return the file of *document*, whose name is not *taken*.

    The front matter of a file is repeated. That of a machine-made note is made from its record.
    """
    if document.stamp is None:
        head = f"---\n{_front_matter(document)}\n---\n\n"
    elif document.front_matter.strip():
        fence = document.front_matter.strip("\n")
        head = f"---\n{fence}\n---\n"
    else:
        head = ""
    return NoteFile(_free_name(document, taken), head + body, len(head))


def _front_matter(document: Document) -> str:
    fields = {
        "title": document.title,
        "type": document.content_type,
        "date": document.authored_at,
        "origin": str(document.origin),
        "confidence": document.confidence,
        "tags": list(document.tags),
    }
    return "\n".join(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items())


def _free_name(document: Document, taken: Container[str]) -> str:
    name = safe_path(f"{document.collection}/{document.path}")
    if not name.lower().endswith(_TEXT):
        name = f"{name}.md"
    if name.casefold() not in taken:
        return name
    stem, dot, ending = name.rpartition(".")
    return f"{stem}~{document.id}{dot}{ending}"


def safe_path(path: str) -> str:
    """Return the relative *path* with parts that every file system accepts and that lead nowhere else."""
    return "/".join(_safe_part(part) for part in path.split("/") if part not in ("", ".")) or "unnamed"


def _safe_part(part: str) -> str:
    named = _UNSAFE.sub("_", part).rstrip(". ") or "_"
    if _RESERVED.match(named):
        named = f"_{named}"
    if len(named) <= _LONGEST_PART:
        return named
    stem, dot, ending = named.rpartition(".")
    is_extension = bool(stem) and len(ending) < len(".markdown")
    tail = f"{dot}{ending}" if is_extension else ""
    return named[: _LONGEST_PART - len(tail)] + tail
