"""Synchronization of the issues of a project with documents, properties and relations."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from clawmem.app.services.indexing.embed import EmbedReport
from clawmem.app.services.indexing.publish import Declarations, Publisher, apply_in_chunks
from clawmem.domain.documents.identity import document_without_file, is_forgotten
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
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")
_CAUSAL = ("blocks", "conditional-blocks", "waits-for", "caused-by")
_SUPPORTING = ("discovered-from", "supersedes", "duplicates")
_KINDS = dict.fromkeys(_CAUSAL, RelationKind.CAUSAL) | dict.fromkeys(_SUPPORTING, RelationKind.SUPPORTING)
_FROM_TARGET = frozenset({*_CAUSAL, "discovered-from"})  # the other issue is the cause, or the evidence
ORIGIN = "beads"  # of relations


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


@dataclass(frozen=True, slots=True)
class SyncIssues:
    """
    Makes a document of each issue in the collection ``beads``; the project's tracker is only read.

    Args:
        enrich: Adds keywords and names to new documents, whose ids are passed as ``only``.
    """

    documents: DocumentStore
    properties: PropertyStore
    relations: RelationStore
    transactions: Transactions
    publisher: Publisher
    clock: Clock
    tracker: IssueTracker
    enrich: Callable[..., object]

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
        tracked = self.tracker.issues(project)
        issues = [issue for issue in tracked.issues if not issue.is_deleted]
        reports = apply_in_chunks(self.transactions, issues, lambda issue: self._store(issue, project))
        stored = {issue.id: report for issue, report in zip(issues, reports, strict=True) if report}
        numbers = {name: document_id for name, (document_id, _) in stored.items()}
        created = [document_id for document_id, change in stored.values() if change == "created"]
        of_project = self.properties.having([PropertyFilter("project", property_key(project))])
        known = of_project & self.properties.having([PropertyFilter("beads_id")])
        gone = [] if tracked.problems else sorted(known.difference(numbers.values()))
        problems = [*tracked.problems]
        if gone and not tracked.issues and not allow_empty:
            problems.append(
                f"{project} lists no issue, so its {len(gone)} documents are kept. Restore its .beads folder, or remove "
                f"them with: clawmem beads {project} --allow-empty"
            )
            gone = []
        with self.transactions.writing():
            self.publisher.withdraw(gone, InactiveReason.REMOVED)
            relations, unresolved = self._relate(issues, numbers)
        if created:
            self.enrich(only=frozenset(created))
        return IssueReport(
            project,
            tracked.source,
            len(numbers),
            len(created),
            sum(change == "updated" for _, change in stored.values()),
            len(gone),
            relations,
            unresolved,
            created,
            problems,
        )

    def _store(self, issue: Issue, project: str) -> tuple[int, str] | None:
        """Store the document of *issue*; return its id and whether it was created or updated, ``None`` if forgotten."""
        path = f"_clawmem/beads/{_UNSAFE.sub('_', issue.id).lstrip('.') or '_'}.md"
        before = self.documents.at(COLLECTION, path)
        if is_forgotten(before):
            return None
        now = iso_utc(self.clock.now_ms())
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
        authored = now if written is None else iso_utc(min(written, self.clock.now_ms()))
        plain = document_without_file(COLLECTION, path, title, body, authored, now)
        document = with_origin(plain._replace(content_type="issue"), Origin.TOOL_INSIDE, labels)
        named = {"beads_id": issue.id, "issue_type": state.pop("type"), **state}
        named |= {"created": issue.created_at, "closed": issue.closed_at, "project": project}
        values = [
            *((name, value) for name, value in named.items() if value),
            *(("tags", label) for label in labels),
        ]
        properties = tuple(Property(name, value, property_key(value)) for name, value in values)
        served = before if before and before.inactive is None else None
        known = self.properties.many([served.id]).get(served.id, ()) if served else ()
        if served and served.hash == document.hash and tuple(known) == properties:
            return served.id, ""
        number = self.publisher.publish_text(document, body, Declarations(properties=properties))
        return number, "updated" if served else "created"

    def _relate(self, issues: Sequence[Issue], numbers: Mapping[str, int]) -> tuple[int, int]:
        """
        Relate the documents of dependent issues, from cause to effect, or from an issue to the other one.

        Return the number of changed relations, and of dependencies on unknown issues or on the issue itself.
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
        now, changed = iso_utc(self.clock.now_ms()), 0
        for kind in (RelationKind.CAUSAL, RelationKind.SUPPORTING, RelationKind.SEMANTIC):
            relations = [
                Relation(
                    source, target, kind, 1.0, ORIGIN, now, {"origin": ORIGIN, "dep_type": ", ".join(names)}
                )
                for (source, target, of_kind), names in types.items()
                if of_kind is kind
            ]
            changed += self.relations.renew(kind, ORIGIN, numbers.values(), relations)
        return changed, unresolved
