"""Issues of a project as documents: their text, their properties, and the relations that dependencies mean."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from clawmem.domain.documents.identity import document_without_file
from clawmem.domain.documents.properties import property_key
from clawmem.domain.documents.times import iso_utc, parse_iso
from clawmem.domain.security.origin import with_origin
from clawmem.domain.security.redaction import redact_parts
from clawmem.ports.documents import Property
from clawmem.ports.imports import Issue
from clawmem.ports.knowledge import Relation, RelationKind
from clawmem.ports.records import Document, Origin

COLLECTION = ORIGIN = "beads"  # of documents, and of relations
KINDS = RelationKind.CAUSAL, RelationKind.SUPPORTING, RelationKind.SEMANTIC
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")
_CAUSAL = ("blocks", "conditional-blocks", "waits-for", "caused-by")
_SUPPORTING = ("discovered-from", "supersedes", "duplicates")
_KINDS = dict.fromkeys(_CAUSAL, RelationKind.CAUSAL) | dict.fromkeys(_SUPPORTING, RelationKind.SUPPORTING)
_FROM_TARGET = frozenset({*_CAUSAL, "discovered-from"})  # the other issue is the cause, or the evidence


def issue_path(issue: Issue) -> str:
    """Return the path of the document of *issue* in `COLLECTION`."""
    return f"_clawmem/beads/{_UNSAFE.sub('_', issue.id).lstrip('.') or '_'}.md"


def issue_document(issue: Issue, project: str, now_ms: int) -> tuple[Document, str, tuple[Property, ...]]:
    """Return the document of an *issue* of *project*, its text, and its properties, without secrets."""
    state = {
        "status": issue.status,
        "type": issue.type,
        "priority": issue.priority,
        "assignee": issue.assignee,
        "parent": issue.parent,
        "closed": issue.closed_at[: len("2026-03-31")],
    }
    line = " · ".join(f"{name.capitalize()}: {value}" for name, value in state.items() if value)
    parts = [f"# {issue.id}: {issue.title}", line, issue.description]
    parts += [f"## {title}\n\n{text}" for title, text in issue.sections]
    text = "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"
    body, title, *labels = redact_parts([text, issue.title or issue.id, *issue.labels])
    written = parse_iso(issue.updated_at) or parse_iso(issue.created_at)
    authored = iso_utc(now_ms if written is None else min(written, now_ms))
    plain = document_without_file(COLLECTION, issue_path(issue), title, body, authored, iso_utc(now_ms))
    document = with_origin(plain._replace(content_type="issue"), Origin.TOOL_INSIDE, labels)
    named = {"beads_id": issue.id, "issue_type": state.pop("type"), **state}
    named |= {"created": issue.created_at, "closed": issue.closed_at, "project": project}
    values = [
        *((name, value) for name, value in named.items() if value),
        *(("tags", label) for label in labels),
    ]
    return document, body, tuple(Property(name, value, property_key(value)) for name, value in values)


def issue_relations(
    issues: Sequence[Issue], numbers: Mapping[str, int], now: str
) -> tuple[list[Relation], int]:
    """
    Return relations from cause to effect, or from an issue to the other one, for the dependencies of *issues*.

    *numbers* are their documents. Also returns the number of dependencies on unknown issues or on the issue itself.
    """
    types: dict[tuple[int, int, RelationKind], list[str]] = defaultdict(list)
    unresolved = 0
    for issue in issues:
        for target, type in issue.dependencies:
            this, other = numbers.get(issue.id), numbers.get(target)
            if this is None or other is None or this == other:
                unresolved += 1
                continue
            ends = (other, this) if type in _FROM_TARGET else (this, other)
            types[(*ends, _KINDS.get(type, RelationKind.SEMANTIC))].append(type)
    relations = [
        Relation(source, target, kind, 1.0, ORIGIN, now, {"origin": ORIGIN, "dep_type": ", ".join(names)})
        for (source, target, kind), names in types.items()
    ]
    return relations, unresolved
