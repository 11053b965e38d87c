"""Documents and relations made from issues of a tracker."""

from __future__ import annotations

import re
from types import MappingProxyType

from clawmem.ports.imports import Issue
from clawmem.ports.knowledge import RelationKind

COLLECTION = "beads"
_FOLDER = "_clawmem/beads"
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")
_CAUSAL = ("blocks", "conditional-blocks", "waits-for", "caused-by")
_SUPPORTING = ("discovered-from", "supersedes", "duplicates")
_KINDS = MappingProxyType(
    {**dict.fromkeys(_CAUSAL, RelationKind.CAUSAL), **dict.fromkeys(_SUPPORTING, RelationKind.SUPPORTING)}
)
_FROM_TARGET = frozenset({*_CAUSAL, "discovered-from"})  # the other issue is the cause, or the evidence


def issue_path(number: str) -> str:
    """Return the path of an issue: ``_clawmem/beads/ID.md``."""
    return f"{_FOLDER}/{_UNSAFE.sub('_', number).lstrip('.') or '_'}.md"


def issue_body(issue: Issue) -> str:
    """Return the Markdown of an issue: title, a line of its state, description and further sections."""
    state = (
        ("Status", issue.status),
        ("Type", issue.type),
        ("Priority", issue.priority),
        ("Assignee", issue.assignee),
        ("Parent", issue.parent),
        ("Closed", issue.closed_at[: len("2026-03-31")]),
    )
    line = " · ".join(f"{name}: {value}" for name, value in state if value)
    parts = [f"# {issue.id}: {issue.title}", line, issue.description]
    parts += [f"## {title}\n\n{text}" for title, text in issue.sections]
    return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"


def issue_properties(issue: Issue, project: str) -> list[tuple[str, str]]:
    """Return the properties of an issue's document, by which searches filter."""
    named = (
        ("beads_id", issue.id),
        ("status", issue.status),
        ("issue_type", issue.type),
        ("priority", issue.priority),
        ("assignee", issue.assignee),
        ("parent", issue.parent),
        ("created", issue.created_at),
        ("closed", issue.closed_at),
        ("project", project),
    )
    return [*((name, value) for name, value in named if value), *(("tags", one) for one in issue.labels)]


def dependency_kind(type: str) -> RelationKind:
    """Return the kind of relation of a dependency; ``semantic`` for related and unknown types."""
    return _KINDS.get(type, RelationKind.SEMANTIC)


def starts_at_target(type: str) -> bool:
    """Whether the relation leads from the issue that is depended on to the dependent one: from cause to effect."""
    return type in _FROM_TARGET
