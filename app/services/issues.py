"""Synchronization of the issues of a project with documents, properties and relations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from clawmem.app.services.indexing.embed import EmbedReport
from clawmem.app.services.indexing.publish import Declarations, Publisher, apply_in_chunks
from clawmem.domain.documents.identity import is_forgotten
from clawmem.domain.documents.properties import property_key
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.issues import COLLECTION, KINDS, ORIGIN, issue_document, issue_path, issue_relations
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore, PropertyFilter, PropertyStore
from clawmem.ports.imports import Issue, IssueTracker
from clawmem.ports.knowledge import RelationStore
from clawmem.ports.records import InactiveReason
from clawmem.ports.storage import Transactions


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
            relations, unresolved = issue_relations(issues, numbers, iso_utc(self.clock.now_ms()))
            related = 0
            for kind in KINDS:
                of_kind = [relation for relation in relations if relation.kind is kind]
                related += self.relations.renew(kind, ORIGIN, numbers.values(), of_kind)
        if created:
            self.enrich(only=frozenset(created))
        return IssueReport(
            project,
            tracked.source,
            len(numbers),
            len(created),
            sum(change == "updated" for _, change in stored.values()),
            len(gone),
            related,
            unresolved,
            created,
            problems,
        )

    def _store(self, issue: Issue, project: str) -> tuple[int, str] | None:
        """Store the document of *issue*; return its id and whether it was created or updated, ``None`` if forgotten."""
        before = self.documents.at(COLLECTION, issue_path(issue))
        if is_forgotten(before):
            return None
        document, body, properties = issue_document(issue, project, self.clock.now_ms())
        served = before if before and before.inactive is None else None
        known = self.properties.many([served.id]).get(served.id, ()) if served else ()
        if served and served.hash == document.hash and tuple(known) == properties:
            return served.id, ""
        number = self.publisher.publish_text(document, body, Declarations(properties=properties))
        return number, "updated" if served else "created"
