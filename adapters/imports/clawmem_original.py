"""ClawMem, the vault of the Node program: documents, relations, facts, pins, snoozes and confidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from clawmem.adapters.imports.reading import database, found_in, share, store_of, text, words
from clawmem.ports.imports import ForeignFact, ForeignMemory, ForeignRelation, Unmatched

TOOL = "clawmem"

_DOCUMENTS = """
select documents.*, content.doc as body from documents join content using (hash) order by documents.id
"""
_FACTS = """
select coalesce(one.name, subject_entity_id) as subject, predicate,
       coalesce(other.name, object_literal, object_entity_id) as object,
       valid_from, valid_to, confidence, one.entity_type as kind
  from entity_triples
  left join entity_nodes as one on one.entity_id = subject_entity_id
  left join entity_nodes as other on other.entity_id = object_entity_id
 where source_doc_id = ? order by id
"""
_RELATIONS = "select target_id, relation_type, weight from memory_relations where source_id = ? order by 1, 2"
_DAY = len("2026-03-31")


def read(place: Path) -> Iterator[ForeignMemory | Unmatched]:
    """Yield every served document; archived, forgotten and invalidated ones have no counterpart."""
    with database(TOOL, found_in(TOOL, place, "index.sqlite", "clawmem.sqlite")) as store:
        store.require("content", "hash", "doc")
        store.require("documents", "id", "collection", "path", "title", "hash", "active", "modified_at")
        has_facts, has_relations = store.columns("entity_triples"), store.columns("memory_relations")
        for row in store.rows(_DOCUMENTS):
            if not row["active"] or row.get("invalidated_at"):
                yield Unmatched("inactive document")
                continue
            key = (row["id"],)
            facts = tuple(map(_fact, store.rows(_FACTS, key))) if has_facts else ()
            relations = tuple(map(_relation, store.rows(_RELATIONS, key))) if has_relations else ()
            yield _document(row, facts, relations)


def _document(
    row: Mapping[str, Any], facts: tuple[ForeignFact, ...], relations: tuple[ForeignRelation, ...]
) -> ForeignMemory:
    return ForeignMemory(
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
        facts,
        relations,
    )


def _fact(row: Mapping[str, Any]) -> ForeignFact:
    return ForeignFact(
        text(row, "subject"),
        text(row, "predicate"),
        text(row, "object"),
        text(row, "valid_from")[:_DAY],
        text(row, "valid_to")[:_DAY],
        share(row["confidence"], 1.0),
        text(row, "kind"),
    )


def _relation(row: Mapping[str, Any]) -> ForeignRelation:
    return ForeignRelation(str(row["target_id"]), text(row, "relation_type"), share(row["weight"], 1.0))


STORES = (store_of(TOOL, (".cache/clawmem",), read),)
