"""Archiving and restoring of documents, and the configured policy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import NamedTuple

from clawmem.app.services.documents.listing import every_served
from clawmem.app.services.documents.lookup import Lookup
from clawmem.app.services.documents.references import candidates_of
from clawmem.app.services.indexing.folders import Folder, scan_folder
from clawmem.app.services.indexing.publish import Publisher
from clawmem.app.services.lifecycle.forgetting import Forgetting
from clawmem.app.services.surfacing.turns import CONTEXT_SURFACING
from clawmem.app.settings.model import LifecycleSettings
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.lifecycle.policy import AFTER_DAYS, ArchivePolicy, is_due, is_due_for_good
from clawmem.domain.lifecycle.recall import is_pin_candidate, is_snooze_candidate, surfaced_stats
from clawmem.domain.retrieval.query_forms import query_forms
from clawmem.domain.text.words import words
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import InvalidInput, NotFound, NotServed
from clawmem.ports.files import FileSource
from clawmem.ports.journal import Act, ActEntry, ActJournal
from clawmem.ports.records import Document, InactiveReason
from clawmem.ports.sessions import RecallStats, UsageStore
from clawmem.ports.storage import Transactions
from clawmem.ports.telemetry import Telemetry


def last_accesses(telemetry: Telemetry) -> dict[int, str]:
    """Return when each document was last found by a question, or surfaced and then used, within the retention time."""
    return {
        hit.document_id: recall.asked_at
        for recall in telemetry.recalls()  # oldest first
        for hit in recall.hits
        if recall.verb != CONTEXT_SURFACING or hit.was_referenced
    }


@dataclass(frozen=True, slots=True)
class LifecycleStatus:
    """
    Numbers of documents by state; pinned, snoozed and never accessed ones are served documents.

    An access is an answer to a question that names the document, or its use after it was surfaced. ``oldest_access``
    is the earliest last access of a document, ``None`` if there was none. ``surfaced`` documents
    were added to prompts within the retention time; ``pin_candidates`` of them were used repeatedly, and
    ``snooze_candidates`` surfaced often without being used. ``policy`` is the configured one, or ``None``.
    """

    active: int
    archived: int
    forgotten: int
    pinned: int
    snoozed: int
    never_accessed: int
    recalls: int
    surfaced: int
    pin_candidates: int
    snooze_candidates: int
    oldest_access: str | None = None
    policy: ArchivePolicy | None = None


def lifecycle_status(
    documents: DocumentStore, telemetry: Telemetry, clock: Clock, policy: ArchivePolicy | None
) -> LifecycleStatus:
    """Return the current statistics."""
    now = iso_utc(clock.now_ms())
    recalled, stats = last_accesses(telemetry), surfaced_stats(telemetry.recalls(), CONTEXT_SURFACING)
    away = Counter(document.inactive for document in documents.latest(active=False))
    counts: Counter[str] = Counter()
    accesses: list[str] = []
    for document in every_served(documents):
        is_snoozed = document.is_snoozed(now)
        counts.update(active=1, pinned=document.is_pinned, snoozed=is_snoozed)
        if accessed_at := max(document.last_accessed_at or "", recalled.get(document.id, "")):
            accesses.append(accessed_at)
        if recall := stats.get(document.id):
            counts["surfaced"] += 1
            if not document.is_pinned and not is_snoozed:
                counts.update(pin=is_pin_candidate(recall), snooze=is_snooze_candidate(recall))
    return LifecycleStatus(
        active=counts["active"],
        archived=away[InactiveReason.ARCHIVED],
        forgotten=away[InactiveReason.FORGOTTEN],
        pinned=counts["pinned"],
        snoozed=counts["snoozed"],
        never_accessed=counts["active"] - len(accesses),
        oldest_access=min(accesses, default=None),
        recalls=telemetry.count(),
        surfaced=counts["surfaced"],
        pin_candidates=counts["pin"],
        snooze_candidates=counts["snooze"],
        policy=policy,
    )


def read_policy(section: LifecycleSettings | None) -> ArchivePolicy | None:
    """Return the policy of *section*; ``None`` without a section. Missing keys keep their defaults."""
    if section is None:
        return None
    return ArchivePolicy(
        section.archive_after_days or AFTER_DAYS,
        section.type_overrides or {},
        frozenset(section.exempt_collections or ()),
        section.dry_run is not False,
        section.purge_after_days,
    )


MOST_SUGGESTED = 5


@dataclass(frozen=True, slots=True)
class Archiving:
    """Archives and restores documents. An archived document keeps its body, path and metadata."""

    documents: DocumentStore
    acts: ActJournal
    usage: UsageStore
    transactions: Transactions
    publisher: Publisher
    lookup: Lookup
    clock: Clock

    def due(self, policy: ArchivePolicy) -> list[Document]:
        """Return the documents that *policy* would archive now, last written first; nothing is changed."""
        now = self.clock.now_ms()
        return [note for note in self.documents.latest() if is_due(note, policy, now)]

    def due_for_good(self, policy: ArchivePolicy) -> list[Document]:
        """Return the documents archived for longer than *policy* allows, last written first; nothing is changed."""
        now, since = self.clock.now_ms(), self.acts.last(Act.ARCHIVE)
        return [note for note in self.archived() if is_due_for_good(since.get(note.id, ""), policy, now)]

    def sweep(self, policy: ArchivePolicy, by: str) -> list[Document]:
        """
        Archive and return the documents that are due, even if *policy* only previews.

        Raises:
            VaultError: nothing was archived.
        """
        due = self.due(policy)
        self.archive(
            due,
            by,
            lambda document: (
                f"written {document.authored_at[:10]}, neither changed nor read for more than "
                f"{policy.days_of(document.content_type):g} days"
            ),
        )
        return due

    def archive(self, documents: Sequence[Document], by: str, why: Callable[[Document], str]) -> None:
        """Archive served documents, and record who did it and why."""
        now = iso_utc(self.clock.now_ms())
        with self.transactions.writing():
            self.acts.add(
                ActEntry(document.id, Act.ARCHIVE, by, now, why(document)) for document in documents
            )
            self.publisher.withdraw([document.id for document in documents], InactiveReason.ARCHIVED)

    def archived(self, query: str = "", collection: str = "", limit: int | None = None) -> list[Document]:
        """
        Return archived documents, last written first.

        With a *query*, only documents that contain any of its words, those with most of them first.
        """
        archived = [
            document
            for document in self.documents.latest(active=False)
            if document.inactive is InactiveReason.ARCHIVED and collection in ("", document.collection)
        ]
        if query:
            wanted = set(query_forms(query).words)
            shared = {
                note.id: len(
                    wanted.intersection(words(f"{note.title}\n{self.documents.body(note.id) or ''}"))
                )
                for note in archived
            }
            archived = sorted(
                (note for note in archived if shared[note.id]), key=lambda note: -shared[note.id]
            )
        return archived[:limit]

    def restore(self, document_ids: Iterable[int], by: str, why: str = "") -> list[Document]:
        """
        Serve archived documents again and return them. Other documents, such as forgotten ones, are left unchanged.

        Restoring counts as an access, so that the next sweep does not archive the documents again.
        """
        known = sorted(self.documents.many(document_ids).values(), key=attrgetter("id"))
        archived = [document for document in known if document.inactive is InactiveReason.ARCHIVED]
        now = iso_utc(self.clock.now_ms())
        with self.transactions.writing():
            self.acts.add(ActEntry(document.id, Act.RESTORE, by, now, why) for document in archived)
            for document in archived:
                self.publisher.publish_again(document)
                self.usage.note([document.id], now)
        return archived

    def to_restore(
        self, address: str = "", collection: str = "", *, everything: bool = False
    ) -> list[Document]:
        """
        Return the archived documents to restore: the one at *address*, those of *collection*, or all of them.

        Raises:
            InvalidInput: not exactly one of the three was given; else as `Lookup.archived`.
            NotFound: with the archived documents that contain words of *address*.
        """
        if [bool(address.strip()), bool(collection), everything].count(True) != 1:
            raise InvalidInput("INVALID_INPUT", "Name one note, one collection, or all, to restore.")
        if not address.strip():
            return self.archived("", collection)
        try:
            return [self.lookup.archived(address)]
        except NotServed:
            raise
        except NotFound as error:
            near = candidates_of(self.documents, self.archived(address, limit=MOST_SUGGESTED))
            raise NotFound("archived document", error.name, candidates=near) from error


class RestoreReport(NamedTuple):
    """The documents that are served again, and those that stay archived because their files are gone."""

    restored: list[Document]
    without_file: list[Document]

    def sentences(self) -> list[str]:
        """Return a sentence with the remedy for each document that stays archived."""
        return [
            f"{document.display_path} stays archived: its file is gone, so the next update would remove it. "
            "Put the file back, then restore it again."
            for document in self.without_file
        ]


@dataclass(frozen=True, slots=True)
class RestoreArchived:
    """Restores archived documents, except those whose files are gone: the next pass would remove them."""

    archiving: Archiving
    files: FileSource
    folders: Sequence[Folder]

    def __call__(self, documents: Sequence[Document], by: str) -> RestoreReport:
        """Serve *documents* again, in one transaction, and report those left archived."""
        gone: set[int] = set()
        for folder in self.folders:
            here = {note.path: note.id for note in documents if note.collection == folder.name and note.stamp}
            if here:
                scan = scan_folder(self.files, folder, here.keys())
                present = {file.path for file in scan.files}
                gone |= {number for path, number in here.items() if scan.root_exists and path not in present}
        restored = self.archiving.restore([note.id for note in documents if note.id not in gone], by)
        return RestoreReport(restored, [note for note in documents if note.id in gone])


MOST = 5  # proposals of each kind, as a person has to read them


class Proposals(NamedTuple):
    """Served documents that are neither pinned nor snoozed, most surfaced first."""

    pin: tuple[Document, ...] = ()
    snooze: tuple[Document, ...] = ()


def proposals(documents: DocumentStore, telemetry: Telemetry, clock: Clock) -> Proposals:
    """Return up to `MOST` documents of each kind, by the retained record of surfaced documents."""
    stats, now = surfaced_stats(telemetry.recalls(), CONTEXT_SURFACING), iso_utc(clock.now_ms())
    free = [
        document
        for document in documents.many(stats).values()
        if document.inactive is None and not document.is_pinned and not document.is_snoozed(now)
    ]

    def chosen(fits: Callable[[RecallStats], bool]) -> tuple[Document, ...]:
        candidates = [document for document in free if fits(stats[document.id])]
        candidates.sort(key=lambda note: (-stats[note.id].recalls, note.display_path))
        return tuple(candidates[:MOST])

    return Proposals(chosen(is_pin_candidate), chosen(is_snooze_candidate))


class SweepOutcome(NamedTuple):
    """
    Archived and permanently forgotten documents of a sweep; in a preview those that would be, with proposals.

    ``left`` is the reason why bytes of forgotten documents may remain in free space; empty if none do.
    """

    is_preview: bool
    archived: list[Document]
    purged: list[Document]
    proposals: Proposals = Proposals()
    left: str = ""


@dataclass(frozen=True, slots=True)
class Sweep:
    """Archives and purges by a policy. It ignores ``only_previews``: the caller decides whether to preview."""

    archiving: Archiving
    forgetting: Forgetting
    propose: Callable[[], Proposals]

    def preview(self, policy: ArchivePolicy) -> SweepOutcome:
        """Return the effects of a sweep; nothing is changed."""
        archiving = self.archiving
        return SweepOutcome(True, archiving.due(policy), archiving.due_for_good(policy), self.propose())

    def __call__(self, policy: ArchivePolicy, by: str) -> SweepOutcome:
        """
        Archive and purge the documents that are due.

        Raises:
            VaultError: nothing was archived, or nothing more was forgotten.
        """
        due_for_good = self.archiving.due_for_good(policy)
        archived = self.archiving.sweep(policy, by)
        left = self.forgetting(due_for_good, by, "archived for long", Act.PURGE).left
        return SweepOutcome(False, archived, due_for_good, left=left)
