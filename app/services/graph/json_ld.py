"""Export of a graph as JSON-LD, for triple stores and JSON tools."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from clawmem.app.services.graph.export import DOCUMENT, MENTION, STATEMENT, TEXT, Edge, Node

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
        yield comma + json.dumps(_node(one) if isinstance(one, Node) else _edge(one), ensure_ascii=False)
        comma = ","
    yield "]}"


def _node(one: Node) -> dict[str, Any]:
    kind = {DOCUMENT: "Document", TEXT: "Text"}.get(one.kind, one.kind)
    return {"@id": one.id, "@type": kind, "label": one.label, **one.more}


def _edge(one: Edge) -> dict[str, Any]:
    if one.kind == MENTION:
        return {"@id": one.source, "mentions": one.target}
    kind, says = ("Statement", "predicate") if one.kind == STATEMENT else ("Relation", "relation")
    return {"@type": kind, "source": one.source, says: one.label, "target": one.target, **one.more}
