"""ClawMem, the vault of the Node program: documents, relations, facts, pins, snoozes and confidence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from clawmem.adapters.imports.reading import database, file_in, share, text, words
from clawmem.ports.imports import ForeignFact, ForeignMemory, ForeignRelation, Unmatched

TOOL = "clawmem"

_DOCUMENTS = """
select documents.*, content.doc as body from documents join content using (hash) order by documents.id
"""
_FACTS = """
select coalesce(nodes.name, subject_entity_id) as subject, predicate,
       coalesce(objects.name, object_literal, object_entity_id) as object,
       valid_from, valid_to, confidence, nodes.entity_type as kind
  from entity_triples
  left join entity_nodes as nodes on nodes.entity_id = subject_entity_id
  left join entity_nodes as objects on objects.entity_id = object_entity_id
 where source_doc_id = ? order by id
"""
_RELATIONS = "select target_id, relation_type, weight from memory_relations where source_id = ? order by 1, 2"
_DAY = len("2026-03-31")


def read(place: Path) -> Iterator[ForeignMemory | Unmatched]:
    """Yield every served document; archived, forgotten and invalidated ones have no counterpart."""
    with database(TOOL, file_in(TOOL, place, "index.sqlite", "clawmem.sqlite")) as store:
        store.require("content", "hash", "doc")
        store.require("documents", "id", "collection", "path", "title", "hash", "active", "modified_at")
        has_facts, has_relations = store.columns("entity_triples"), store.columns("memory_relations")
        for row in store.rows(_DOCUMENTS):
            if not row["active"] or row.get("invalidated_at"):
                yield Unmatched("inactive document")
                continue
            facts = store.rows(_FACTS, (row["id"],)) if has_facts else ()
            relations = store.rows(_RELATIONS, (row["id"],)) if has_relations else ()
            yield ForeignMemory(
                str(row["id"]),
                text(row, "body"),
                text(row, "title"),
                text(row, "content_type") or "note",
                text(row, "modified_at"),
                words(row.get("tags")),
                share(row.get("confidence"), 0.5),
                bool(row.get("pinned")),
                text(row, "snoozed_until"),
                text(row, "collection"),
                tuple(
                    ForeignFact(
                        text(fact, "subject"),
                        text(fact, "predicate"),
                        text(fact, "object"),
                        text(fact, "valid_from")[:_DAY],
                        text(fact, "valid_to")[:_DAY],
                        share(fact["confidence"], 1.0),
                        text(fact, "kind"),
                    )
                    for fact in facts
                ),
                tuple(
                    ForeignRelation(
                        str(relation["target_id"]),
                        text(relation, "relation_type"),
                        share(relation["weight"], 1.0),
                    )
                    for relation in relations
                ),
            )
