"""Streaming export of a vault's graph: documents, entities, and the edges between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote

from clawmem.app.services.documents.listing import pages
from clawmem.ports.entities import Entity
from clawmem.ports.records import Document
from clawmem.ports.relations import Relation
from clawmem.ports.stores import DocumentsWithKnowledge, KnowledgeRecords
from clawmem.ports.triples import Triple

EACH = 1_000_000  # no limit: more relations of one kind than a document has

DOCUMENT, TEXT, STATEMENT, MENTION = "document", "text", "statement", "mentions"

Value = str | float | bool


class Node(NamedTuple):
    """A node. ``kind`` is `DOCUMENT`, the kind of an entity, or `TEXT` for a literal."""

    id: str
    kind: str
    label: str
    more: Mapping[str, Value]


class Edge(NamedTuple):
    """A directed edge: a kind of relation, `MENTION`, or the predicate of a `STATEMENT`."""

    source: str
    target: str
    kind: str
    label: str
    more: Mapping[str, Value]


def whole_graph(vault: DocumentsWithKnowledge) -> Iterator[Node | Edge]:
    """
    Yield the graph of all served documents, each node before the edges that start at it.

    Memory holds one page of documents at a time, and the ids of all nodes that are not documents.
    """
    seen: set[str] = set()
    for page in pages(vault.documents):
        ids = [one.id for one in page]
        yield from map(_document, page)
        yield from _relations(vault, ids)
        for document in page:
            for item in _things(vault, document):
                if isinstance(item, Edge) or item.id not in seen:
                    yield item
                if isinstance(item, Node):
                    seen.add(item.id)


def address(document: Document) -> str:
    """Return the IRI of a document, such as ``clawmem://notes/a%20b.md``."""
    return f"clawmem://{quote(document.display_path)}"


def _document(one: Document) -> Node:
    more: dict[str, Value] = {
        "type": one.content_type,
        "authored_at": one.authored_at,
        "confidence": one.confidence,
    }
    return Node(address(one), DOCUMENT, one.title, more)


def _relations(vault: DocumentsWithKnowledge, ids: Sequence[int]) -> Iterator[Edge]:
    relations = vault.relations.outbound(ids, limit=EACH)
    known = vault.documents.many({*ids, *(one.target for one in relations)})
    for one in relations:
        source, target = address(known[one.source]), address(known[one.target])
        yield Edge(source, target, one.kind.value, one.kind.value, _said_of(one))


def _said_of(relation: Relation) -> dict[str, Value]:
    reasoning = str(relation.metadata.get("reasoning", ""))
    said: dict[str, Value] = {
        "weight": relation.weight,
        "origin": relation.origin,
        "trust": str(relation.trust),
        "reasoning": reasoning,
    }
    return {name: value for name, value in said.items() if value != ""}


def _things(vault: KnowledgeRecords, document: Document) -> Iterator[Node | Edge]:
    here = address(document)
    for entity in vault.entities.mentions(document.id):
        yield _entity(entity)
        yield Edge(here, entity.id, MENTION, MENTION, {})
    for triple in vault.triples.of_document(document.id):
        yield from _statement(triple, here)


def _statement(triple: Triple, source: str) -> Iterator[Node | Edge]:
    other = triple.object
    object_ = _entity(other) if isinstance(other, Entity) else Node(f"text:{quote(other)}", TEXT, other, {})
    yield _entity(triple.subject)
    yield object_
    more: dict[str, Value] = {
        "valid_from": triple.valid_from,
        "valid_to": triple.valid_to,
        "confidence": triple.confidence,
        "current": triple.is_current,
        "said": triple.said,
        "document": source,
    }
    kept = {name: value for name, value in more.items() if value != ""}
    yield Edge(triple.subject.id, object_.id, STATEMENT, triple.predicate, kept)


def _entity(entity: Entity) -> Node:
    return Node(entity.id, entity.kind, entity.name, {})
