"""Exports of notes: the selected documents, as Markdown files or as lines of memories."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

from clawmem.app.services.documents.listing import every_served
from clawmem.domain.portability.note_files import NoteFile, note_file
from clawmem.ports.documents import DocumentStore
from clawmem.ports.imports import ForeignFact, ForeignMemory, ForeignRelation
from clawmem.ports.knowledge import Entity, RelationStore, TripleStore
from clawmem.ports.records import Document, InactiveReason

_EVERY_RELATION = 1_000_000
_ORIGIN = "origin:"


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
