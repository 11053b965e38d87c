"""Synchronization of the issues of a project with documents, properties and relations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from clawmem.app.services.indexing.publish import Declarations, apply_in_chunks, publish, withdraw
from clawmem.domain.capture.issues import (
    COLLECTION,
    dependency_kind,
    issue_body,
    issue_path,
    issue_properties,
    starts_at_target,
)
from clawmem.domain.documents.fragments import fragment
from clawmem.domain.documents.identity import body_hash
from clawmem.domain.documents.properties import property_key
from clawmem.domain.documents.times import iso_utc, parse_iso
from clawmem.domain.security.origin import as_tag
from clawmem.domain.security.redaction import redact_parts
from clawmem.ports.clock import Clock
from clawmem.ports.issues import Issue, IssueTracker
from clawmem.ports.origin import Origin
from clawmem.ports.properties import Property, PropertyFilter
from clawmem.ports.records import Document, InactiveReason
from clawmem.ports.relations import Relation, RelationKind
from clawmem.ports.stores import LifecycleStores

ORIGIN = "beads"  # of relations
TYPE = "issue"
CONFIDENCE = QUALITY = 0.5

Enrich = Callable[[Collection[int]], object]


class IssueReport(NamedTuple):
    """Counts of a synchronization; ``new`` are the ids of new documents, ``unresolved`` dependencies on unknown issues."""

    project: str
    source: str
    synced: int
    created: int
    updated: int
    removed: int
    relations: int
    unresolved: int
    new: Sequence[int]
    problems: Sequence[str]


class SyncIssues:
    """
    Makes a document of each issue in the collection ``beads``; the project's tracker is only read.

    Args:
        enrich: Adds keywords and names to new documents.
    """

    def __init__(self, vault: LifecycleStores, clock: Clock, tracker: IssueTracker, enrich: Enrich) -> None:
        self._vault = vault
        self._clock = clock
        self._tracker = tracker
        self._enrich = enrich

    def __call__(self, folder: str, *, allow_empty: bool = False) -> IssueReport:
        """
        Synchronize the project that contains *folder*.

        Issues that the tracker no longer lists are withdrawn, unless a part of the list could not be read, or the list
        is empty and *allow_empty* is false: a file may have been lost.

        Raises:
            NoIssues: *folder* is in no project.
            VaultError: the issues before are stored.
        """
        project = self._tracker.project(folder)
        found = self._tracker.issues(project)
        numbers: dict[str, int] = {}
        created: list[int] = []
        updated = [0]

        def store(issue: Issue) -> None:
            before = self._vault.documents.at(COLLECTION, issue_path(issue.id))
            if before and before.inactive is InactiveReason.FORGOTTEN:
                return
            number, changed = self._store(issue, project, before)
            numbers[issue.id] = number
            if before is None or before.inactive is not None:
                created.append(number)
            else:
                updated[0] += changed

        issues = [one for one in found.issues if not one.is_deleted]
        for _ in apply_in_chunks(self._vault, issues, store):
            pass
        gone = [] if found.problems else self._gone(project, numbers.values())
        problems = [*found.problems]
        if gone and not found.issues and not allow_empty:
            problems.append(_kept(project, len(gone)))
            gone = []
        with self._vault.writing():
            withdraw(self._vault, gone, InactiveReason.REMOVED)
            relations, unresolved = self._relate(issues, numbers)
        if created:
            self._enrich(frozenset(created))
        return IssueReport(
            project,
            found.source,
            len(numbers),
            len(created),
            updated[0],
            len(gone),
            relations,
            unresolved,
            created,
            problems,
        )

    def _store(self, issue: Issue, project: str, before: Document | None) -> tuple[int, bool]:
        """Return the id of the document of *issue*, and whether it changed."""
        now = iso_utc(self._clock.now_ms())
        body, title, *labels = redact_parts([issue_body(issue), issue.title or issue.id, *issue.labels])
        written = parse_iso(issue.updated_at) or parse_iso(issue.created_at)
        authored = now if written is None else iso_utc(min(written, self._clock.now_ms()))
        document = Document(
            COLLECTION,
            issue_path(issue.id),
            title,
            body_hash(body),
            body_hash(body),
            authored_at=authored,
            modified_at=now,
            indexed_at=now,
            content_type=TYPE,
            confidence=CONFIDENCE,
            quality_score=QUALITY,
            tags=(as_tag(Origin.TOOL_INSIDE), *labels),
            origin=Origin.TOOL_INSIDE,
            body_length=len(body),
        )
        clean = issue._replace(labels=tuple(labels))
        properties = tuple(
            Property(name, value, property_key(value)) for name, value in issue_properties(clean, project)
        )
        is_same = before and before.inactive is None and before.hash == document.hash
        if before and is_same and tuple(self._vault.properties.of(before.id)) == properties:
            return before.id, False
        parts = fragment(body, title=title, date=authored[:10])
        return publish(self._vault, document, body, parts, Declarations(properties=properties)), True

    def _gone(self, project: str, present: Iterable[int]) -> list[int]:
        known = self._vault.properties.having([PropertyFilter("project", property_key(project))])
        issues = self._vault.properties.having([PropertyFilter("beads_id")])
        return sorted((known & issues) - {*present})

    def _relate(self, issues: Sequence[Issue], numbers: Mapping[str, int]) -> tuple[int, int]:
        """Return the number of changed relations, and of dependencies on unknown issues or on the issue itself."""
        types: dict[tuple[int, int, RelationKind], list[str]] = defaultdict(list)
        unresolved = 0
        for issue in issues:
            for one in issue.dependencies:
                this, other = numbers.get(issue.id), numbers.get(one.target)
                if this is None or other is None or this == other:
                    unresolved += 1
                    continue
                ends = (other, this) if starts_at_target(one.type) else (this, other)
                types[(*ends, dependency_kind(one.type))].append(one.type)
        now, changed = iso_utc(self._clock.now_ms()), 0
        for kind in (RelationKind.CAUSAL, RelationKind.SUPPORTING, RelationKind.SEMANTIC):
            relations = [
                Relation(
                    source, target, kind, 1.0, ORIGIN, now, {"origin": ORIGIN, "dep_type": ", ".join(said)}
                )
                for (source, target, found), said in types.items()
                if found is kind
            ]
            changed += self._vault.relations.renew(kind, ORIGIN, numbers.values(), relations)
        return changed, unresolved


def _kept(project: str, documents: int) -> str:
    return (
        f"{project} lists no issue, so its {documents} documents are kept. Restore its .beads folder, or remove them "
        f"with: clawmem beads sync {project} --allow-empty"
    )
