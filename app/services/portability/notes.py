"""Exports of notes: the selected documents, as Markdown files or as lines of memories."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterator
from typing import NamedTuple

from clawmem.app.services.documents.listing import every_served
from clawmem.ports.documents import DocumentStore
from clawmem.ports.imports import ForeignFact, ForeignMemory, ForeignRelation
from clawmem.ports.knowledge import Entity, RelationStore, TripleStore
from clawmem.ports.records import Document, InactiveReason

_EVERY_RELATION = 1_000_000
_ORIGIN = "origin:"
_UNSAFE = re.compile(r'[\x00-\x1f\x7f<>:"|?*\\]')  # refused by some file system, or no part of a name
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)
_TEXT = (".md", ".markdown", ".txt")
_LONGEST_PART = 120  # characters; 255 bytes are the most in common file systems


class Selection(NamedTuple):
    """
    The exported documents: of these collections, all if empty, and written at ``since`` or later, if given.

    Forgotten places are exported for their collections at any time.
    """

    collections: frozenset[str] = frozenset()
    since: str = ""

    def holds(self, document: Document) -> bool:
        """Whether *document* is exported, or its record if it is not served."""
        is_recent = document.inactive is InactiveReason.FORGOTTEN or document.authored_at >= self.since
        return is_recent and (not self.collections or document.collection in self.collections)


def selected_files(documents: DocumentStore, selection: Selection) -> Iterator[tuple[Document, NoteFile]]:
    """Yield the served documents of *selection* as Markdown files with different names, by id."""
    taken: set[str] = set()
    for document in filter(selection.holds, every_served(documents)):
        file = note_file(document, documents.body(document.id) or "", taken)
        taken.add(file.name.casefold())
        yield document, file


def memory_lines(
    documents: DocumentStore, triples: TripleStore, relations: RelationStore, selection: Selection
) -> Iterator[str]:
    """Yield each document as the JSON object of a memory, with its facts and relations; ``import jsonl`` reads them."""
    for document in filter(selection.holds, every_served(documents)):
        body = documents.body(document.id) or ""
        if not body.strip():
            continue
        edges = relations.outbound([document.id], limit=_EVERY_RELATION)
        targets = documents.many({relation.target for relation in edges})
        memory = ForeignMemory(
            document.display_path,
            body,
            document.title,
            document.content_type,
            document.authored_at,
            tuple(tag for tag in document.tags if not tag.startswith(_ORIGIN)),
            document.confidence,
            document.is_pinned,
            document.snoozed_until or "",
            document.domain or "",
            tuple(
                ForeignFact(
                    triple.subject.name,
                    triple.predicate,
                    triple.object.name if isinstance(triple.object, Entity) else triple.object,
                    triple.valid_from,
                    triple.valid_to,
                    triple.confidence,
                    triple.subject.kind,
                )
                for triple in triples.of_document(document.id)
            ),
            tuple(
                ForeignRelation(targets[relation.target].display_path, relation.kind.value, relation.weight)
                for relation in edges
                if relation.target in targets and selection.holds(targets[relation.target])
            ),
        )
        fields = {
            **memory._asdict(),
            "facts": [fact._asdict() for fact in memory.facts],
            "relations": [relation._asdict() for relation in memory.relations],
        }
        yield json.dumps(fields, ensure_ascii=False)


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
        fields = {
            "title": document.title,
            "type": document.content_type,
            "date": document.authored_at,
            "origin": str(document.origin),
            "confidence": document.confidence,
            "tags": list(document.tags),
        }
        lines = (f"{name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in fields.items())
        head = f"---\n{''.join(lines)}---\n\n"
    elif document.front_matter.strip():
        fence = document.front_matter.strip("\n")
        head = f"---\n{fence}\n---\n"
    else:
        head = ""
    return NoteFile(_free_name(document, taken), head + body, len(head))


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
