"""Formats of an exported graph: GraphML, which Gephi, yEd, Cytoscape and networkx read, and JSON-LD."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from clawmem.app.services.graph.export import DOCUMENT, MENTION, STATEMENT, TEXT, Edge, Node, Value

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
