"""Export of a graph as GraphML, which Gephi, yEd, Cytoscape and networkx read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from xml.sax.saxutils import escape, quoteattr

from clawmem.app.services.graph.export import Edge, Node, Value

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
_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
)
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # invalid XML characters


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
