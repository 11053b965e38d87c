"""Streaming export of a vault's graph: documents, entities, and the edges between them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from clawmem.app.services.documents.listing import pages
from clawmem.ports.entities import Entity
from clawmem.ports.records import Document
from clawmem.ports.relations import Relation
from clawmem.ports.stores import DocumentsWithKnowledge, KnowledgeRecords
from clawmem.ports.triples import Triple

# Attributes of nodes and edges with their types, which GraphML declares first.
_OF_NODES = {
    "kind": "string",
    "label": "string",
    "type": "string",
    "authored_at": "string",
    "confidence": "double",
}
_OF_EDGES = {
    "kind": "string",
    "label": "string",
    "weight": "double",
    "origin": "string",
    "trust": "string",
    "reasoning": "string",
    "valid_from": "string",
    "valid_to": "string",
    "confidence": "double",
    "current": "boolean",
    "said": "string",
    "document": "string",
}  # fmt: skip
_HEAD = ('<?xml version="1.0" encoding="UTF-8"?>', '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">')
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # invalid XML characters

# Terms of Schema.org where they exist, otherwise our own. The context is inline, so nothing has to be fetched.
CONTEXT = {
    "@vocab": "urn:clawmem:",
    "default": "urn:clawmem:default:",
    "text": "urn:clawmem:text:",
    "label": "https://schema.org/name",
    "authored_at": "https://schema.org/dateCreated",
    "mentions": {"@id": "https://schema.org/mentions", "@type": "@id"},
    "source": {"@type": "@id"},
    "target": {"@type": "@id"},
    "document": {"@type": "@id"},
}


def graphml(graph: Iterable[Node | Edge]) -> Iterator[str]:
    """Yield the graph as lines without line ends. Characters that XML forbids are replaced by U+FFFD."""
    yield from _HEAD
    for side, attributes in (("node", _OF_NODES), ("edge", _OF_EDGES)):
        for name, kind in attributes.items():
            yield f'  <key id="{side}_{name}" for="{side}" attr.name="{name}" attr.type="{kind}"/>'
    yield '  <graph id="vault" edgedefault="directed">'
    for one in graph:
        yield _node(one) if isinstance(one, Node) else _edge(one)
    yield "  </graph>"
    yield "</graphml>"


def _node(one: Node) -> str:
    inside = _data("node", {"kind": one.kind, "label": one.label, **one.more})
    return f"    <node id={_attribute(one.id)}>{inside}</node>"


def _edge(one: Edge) -> str:
    inside = _data("edge", {"kind": one.kind, "label": one.label, **one.more})
    return f"    <edge source={_attribute(one.source)} target={_attribute(one.target)}>{inside}</edge>"


def _data(side: str, values: dict[str, Value]) -> str:
    return "".join(f'<data key="{side}_{name}">{_text(value)}</data>' for name, value in values.items())


def _text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else escape(_xml(str(value)))


def _attribute(value: str) -> str:
    return quoteattr(_xml(value))


def _xml(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)


def json_ld(graph: Iterable[Node | Edge]) -> Iterator[str]:
    """
    Yield the graph as lines without line ends, one item per line.

    Facts and relations between documents are items of their own, because they have a weight, a time or a reason;
    mentions are properties of a document.
    """
    yield f'{{"@context": {json.dumps(CONTEXT)},'
    yield '"@graph": ['
    comma = ""
    for one in graph:
        yield comma + json.dumps(
            _linked_node(one) if isinstance(one, Node) else _linked_edge(one), ensure_ascii=False
        )
        comma = ","
    yield "]}"


def _linked_node(one: Node) -> dict[str, Any]:
    kind = {DOCUMENT: "Document", TEXT: "Text"}.get(one.kind, one.kind)
    return {"@id": one.id, "@type": kind, "label": one.label, **one.more}


def _linked_edge(one: Edge) -> dict[str, Any]:
    if one.kind == MENTION:
        return {"@id": one.source, "mentions": one.target}
    kind, says = ("Statement", "predicate") if one.kind == STATEMENT else ("Relation", "relation")
    return {"@type": kind, "source": one.source, says: one.label, "target": one.target, **one.more}


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
