"""Synchronization of the issues of a project with documents, properties and relations."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from clawmem.app.services.indexing.embed import EmbedReport
from clawmem.app.services.indexing.publish import Declarations, Publisher, apply_in_chunks
from clawmem.domain.documents.identity import document_without_file
from clawmem.domain.documents.properties import property_key
from clawmem.domain.documents.times import iso_utc, parse_iso
from clawmem.domain.security.origin import with_origin
from clawmem.domain.security.redaction import redact_parts
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore, Property, PropertyFilter, PropertyStore
from clawmem.ports.imports import Issue, IssueTracker
from clawmem.ports.knowledge import Relation, RelationKind, RelationStore
from clawmem.ports.records import InactiveReason, Origin
from clawmem.ports.storage import Transactions

COLLECTION = "beads"
_FOLDER = "_clawmem/beads"
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")
_CAUSAL = ("blocks", "conditional-blocks", "waits-for", "caused-by")
_SUPPORTING = ("discovered-from", "supersedes", "duplicates")
_KINDS = MappingProxyType(
    {**dict.fromkeys(_CAUSAL, RelationKind.CAUSAL), **dict.fromkeys(_SUPPORTING, RelationKind.SUPPORTING)}
)
_FROM_TARGET = frozenset({*_CAUSAL, "discovered-from"})  # the other issue is the cause, or the evidence
ORIGIN = "beads"  # of relations
TYPE = "issue"

Enrich = Callable[..., object]  # called with the ids of new documents as ``only``


@dataclass(frozen=True)
class IssueReport:
    """
    Counts of a synchronization; ``new_doc_ids`` are new documents, ``removed`` ones are not listed any more.

    ``unresolved`` are dependencies on unknown issues, or of an issue on itself. ``problems`` are lines that could not be
    read, and why documents of a project without issues are kept.
    """

    project_dir: str
    source: str
    synced: int
    created: int
    updated: int
    removed: int
    relations: int
    unresolved: int
    new_doc_ids: Sequence[int]
    problems: Sequence[str]
    embed: EmbedReport | None = None


class _StoredIssue(NamedTuple):
    issue: str
    document_id: int
    is_new: bool
    is_changed: bool


@dataclass(frozen=True, slots=True)
class SyncIssues:
    """
    Makes a document of each issue in the collection ``beads``; the project's tracker is only read.

    Args:
        enrich: Adds keywords and names to new documents.
    """

    documents: DocumentStore
    properties: PropertyStore
    relations: RelationStore
    transactions: Transactions
    publisher: Publisher
    clock: Clock
    tracker: IssueTracker
    enrich: Enrich

    def __call__(self, folder: str, *, allow_empty: bool = False) -> IssueReport:
        """
        Synchronize the project that contains *folder*.

        Issues that the tracker no longer lists are withdrawn, unless a part of the list could not be read, or the list
        is empty and *allow_empty* is false: a file may have been lost.

        Raises:
            NotFound: *folder* is in no project.
            VaultError: the issues before are stored.
        """
        project = self.tracker.project(folder)
        found = self.tracker.issues(project)
        issues = [one for one in found.issues if not one.is_deleted]
        stored = apply_in_chunks(self.transactions, issues, lambda issue: self._store(issue, project))
        known = [one for one in stored if one]
        numbers = {one.issue: one.document_id for one in known}
        created = [one.document_id for one in known if one.is_new]
        gone = [] if found.problems else self._gone(project, numbers.values())
        problems = [*found.problems]
        if gone and not found.issues and not allow_empty:
            problems.append(_kept(project, len(gone)))
            gone = []
        with self.transactions.writing():
            self.publisher.withdraw(gone, InactiveReason.REMOVED)
            relations, unresolved = self._relate(issues, numbers)
        if created:
            self.enrich(only=frozenset(created))
        return IssueReport(
            project,
            found.source,
            len(numbers),
            len(created),
            sum(one.is_changed and not one.is_new for one in known),
            len(gone),
            relations,
            unresolved,
            created,
            problems,
        )

    def _store(self, issue: Issue, project: str) -> _StoredIssue | None:
        """Store the document of *issue*; return ``None`` if it was forgotten."""
        before = self.documents.at(COLLECTION, issue_path(issue.id))
        if before and before.inactive is InactiveReason.FORGOTTEN:
            return None
        now = iso_utc(self.clock.now_ms())
        body, title, *labels = redact_parts([issue_body(issue), issue.title or issue.id, *issue.labels])
        written = parse_iso(issue.updated_at) or parse_iso(issue.created_at)
        authored = now if written is None else iso_utc(min(written, self.clock.now_ms()))
        plain = document_without_file(COLLECTION, issue_path(issue.id), title, body, authored, now)
        document = with_origin(plain._replace(content_type=TYPE), Origin.TOOL_INSIDE, labels)
        clean = issue._replace(labels=tuple(labels))
        properties = tuple(
            Property(name, value, property_key(value)) for name, value in issue_properties(clean, project)
        )
        served = before if before and before.inactive is None else None
        if (
            served
            and served.hash == document.hash
            and (*self.properties.many([served.id]).get(served.id, ()),) == properties
        ):
            return _StoredIssue(issue.id, served.id, is_new=False, is_changed=False)
        number = self.publisher.publish_text(document, body, Declarations(properties=properties))
        return _StoredIssue(issue.id, number, is_new=served is None, is_changed=True)

    def _gone(self, project: str, present: Iterable[int]) -> list[int]:
        known = self.properties.having([PropertyFilter("project", property_key(project))])
        issues = self.properties.having([PropertyFilter("beads_id")])
        return sorted((known & issues) - {*present})

    def _relate(self, issues: Sequence[Issue], numbers: Mapping[str, int]) -> tuple[int, int]:
        """Return the number of changed relations, and of dependencies on unknown issues or on the issue itself."""
        types: dict[tuple[int, int, RelationKind], list[str]] = defaultdict(list)
        unresolved = 0
        for issue in issues:
            for target, kind in issue.dependencies:
                this, other = numbers.get(issue.id), numbers.get(target)
                if this is None or other is None or this == other:
                    unresolved += 1
                    continue
                ends = (other, this) if starts_at_target(kind) else (this, other)
                types[(*ends, dependency_kind(kind))].append(kind)
        now, changed = iso_utc(self.clock.now_ms()), 0
        for relation_kind in (RelationKind.CAUSAL, RelationKind.SUPPORTING, RelationKind.SEMANTIC):
            relations = [
                Relation(
                    source,
                    target,
                    relation_kind,
                    1.0,
                    ORIGIN,
                    now,
                    {"origin": ORIGIN, "dep_type": ", ".join(said)},
                )
                for (source, target, found), said in types.items()
                if found is relation_kind
            ]
            changed += self.relations.renew(relation_kind, ORIGIN, numbers.values(), relations)
        return changed, unresolved


def _kept(project: str, documents: int) -> str:
    return (
        f"{project} lists no issue, so its {documents} documents are kept. Restore its .beads folder, or remove them "
        f"with: clawmem beads {project} --allow-empty"
    )


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
    return [*((name, value) for name, value in named if value), *(("tags", label) for label in issue.labels)]


def dependency_kind(type: str) -> RelationKind:
    """Return the kind of relation of a dependency; ``semantic`` for related and unknown types."""
    return _KINDS.get(type, RelationKind.SEMANTIC)


def starts_at_target(type: str) -> bool:
    """Whether the relation leads from the issue that is depended on to the dependent one: from cause to effect."""
    return type in _FROM_TARGET
