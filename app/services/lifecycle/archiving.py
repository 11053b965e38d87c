"""Archiving and restoring of documents, and the configured policy."""

from __future__ import annotations

from collections import Counter, defaultdict
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
from clawmem.app.settings.sections import LifecycleSettings
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.documents.tokens import words
from clawmem.domain.lifecycle.policy import AFTER_DAYS, ArchivePolicy, is_due, is_due_for_good
from clawmem.domain.lifecycle.recall import Surfacing, is_pin_candidate, is_snooze_candidate, recall_stats
from clawmem.domain.retrieval.query_forms import query_forms
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import InvalidInput, NotFound, NotServed
from clawmem.ports.files import FileSource
from clawmem.ports.journal import Act, ActEntry
from clawmem.ports.records import Document, InactiveReason
from clawmem.ports.sessions import RecallStats
from clawmem.ports.telemetry import Telemetry
from clawmem.ports.vault import Vault


def last_accesses(telemetry: Telemetry) -> dict[int, str]:
    """Return when each document was last found by a question, or surfaced and then used, within the retention time."""
    return {
        hit.document_id: recall.asked_at
        for recall in telemetry.recalls()  # oldest first
        for hit in recall.hits
        if recall.verb != CONTEXT_SURFACING or hit.was_referenced
    }


def surfaced_stats(telemetry: Telemetry) -> dict[int, RecallStats]:
    """Return statistics by document within the retention time. Searches do not count, as their use is unknown."""
    times = defaultdict[int, list[Surfacing]](list)
    for recall in telemetry.recalls():
        if recall.verb == CONTEXT_SURFACING:
            for hit in recall.hits:
                times[hit.document_id].append(
                    Surfacing(recall.asked_at, recall.query_hash, hit.was_referenced)
                )
    return {number: recall_stats(number, found) for number, found in times.items()}


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
    oldest_access: str | None
    recalls: int
    surfaced: int
    pin_candidates: int
    snooze_candidates: int
    policy: ArchivePolicy | None


class _Standing(NamedTuple):
    """The state of one document."""

    id: int
    is_pinned: bool
    is_snoozed: bool
    accessed_at: str | None


def _standing(one: Document, now: str) -> _Standing:
    return _Standing(one.id, one.is_pinned, one.is_snoozed(now), one.last_accessed_at)


def lifecycle_status(
    documents: DocumentStore, telemetry: Telemetry, clock: Clock, policy: ArchivePolicy | None
) -> LifecycleStatus:
    """Return the current statistics."""
    now = iso_utc(clock.now_ms())
    served = [_standing(one, now) for one in every_served(documents)]
    away = Counter(one.inactive for one in documents.latest(active=False))
    recalled = last_accesses(telemetry)
    accessed = [at for one in served if (at := max(one.accessed_at or "", recalled.get(one.id, "")))]
    stats = surfaced_stats(telemetry)
    surfaced = [one for one in served if one.id in stats]
    free = [stats[one.id] for one in surfaced if not one.is_pinned and not one.is_snoozed]
    return LifecycleStatus(
        active=len(served),
        archived=away[InactiveReason.ARCHIVED],
        forgotten=away[InactiveReason.FORGOTTEN],
        pinned=sum(one.is_pinned for one in served),
        snoozed=sum(one.is_snoozed for one in served),
        never_accessed=len(served) - len(accessed),
        oldest_access=min(accessed, default=None),
        recalls=telemetry.count(),
        surfaced=len(surfaced),
        pin_candidates=sum(map(is_pin_candidate, free)),
        snooze_candidates=sum(map(is_snooze_candidate, free)),
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


class Archiving:
    """Archives and restores documents. An archived document keeps its body, path and metadata."""

    def __init__(self, vault: Vault, clock: Clock) -> None:
        self._vault = vault
        self._publisher = Publisher(vault)
        self._clock = clock

    def due(self, policy: ArchivePolicy) -> list[Document]:
        """Return the documents that *policy* would archive now, last written first; nothing is changed."""
        now = self._clock.now_ms()
        return [one for one in self._vault.documents.latest() if is_due(one, policy, now)]

    def due_for_good(self, policy: ArchivePolicy) -> list[Document]:
        """Return the documents archived for longer than *policy* allows, last written first; nothing is changed."""
        now, since = self._clock.now_ms(), self._vault.acts.last(Act.ARCHIVE)
        return [one for one in self.archived() if is_due_for_good(since.get(one.id, ""), policy, now)]

    def sweep(self, policy: ArchivePolicy, by: str) -> list[Document]:
        """
        Archive and return the documents that are due, even if *policy* only previews.

        Raises:
            VaultError: nothing was archived.
        """
        due = self.due(policy)
        self.archive(due, by, lambda one: _reason(one, policy))
        return due

    def archive(self, documents: Sequence[Document], by: str, why: Callable[[Document], str]) -> None:
        """Archive served documents, and record who did it and why."""
        with self._vault.transactions.writing():
            self._vault.acts.add(
                ActEntry(one.id, Act.ARCHIVE, by, self._now(), why(one)) for one in documents
            )
            self._publisher.withdraw([one.id for one in documents], InactiveReason.ARCHIVED)

    def archived(self, query: str = "", collection: str = "", limit: int | None = None) -> list[Document]:
        """
        Return archived documents, last written first.

        With a *query*, only documents that contain any of its words, those with most of them first.
        """
        every = self._vault.documents.latest(active=False)
        found = [one for one in every if one.inactive is InactiveReason.ARCHIVED]
        if collection:
            found = [one for one in found if one.collection == collection]
        if query:
            wanted = set(query_forms(query).words)
            held = {one.id: len(wanted & self._words(one)) for one in found}
            found = sorted((one for one in found if held[one.id]), key=lambda one: -held[one.id])
        return found[:limit]

    def restore(self, document_ids: Iterable[int], by: str, why: str = "") -> list[Document]:
        """
        Serve archived documents again and return them. Other documents, such as forgotten ones, are left unchanged.

        Restoring counts as an access, so that the next sweep does not archive the documents again.
        """
        found = self._vault.documents.many(document_ids).values()
        archived = sorted(
            (one for one in found if one.inactive is InactiveReason.ARCHIVED), key=attrgetter("id")
        )
        with self._vault.transactions.writing():
            self._vault.acts.add(ActEntry(one.id, Act.RESTORE, by, self._now(), why) for one in archived)
            for document in archived:
                self._publisher.publish_again(document)
                self._vault.usage.note([document.id], self._now())
        return archived

    def named(self, lookup: Lookup, address: str) -> Document:
        """
        Return the archived document that *address* names.

        Raises:
            NotFound: with the archived documents that hold words of *address*; else as `Lookup.archived`.
        """
        try:
            return lookup.archived(address)
        except NotServed:
            raise
        except NotFound as error:
            near = candidates_of(self._vault.documents, self.archived(address, limit=MOST_SUGGESTED))
            raise NotFound("archived document", error.name, candidates=near) from error

    def _words(self, document: Document) -> set[str]:
        return set(words(f"{document.title}\n{self._vault.documents.body(document.id) or ''}"))

    def _now(self) -> str:
        return iso_utc(self._clock.now_ms())


def to_restore(
    archiving: Archiving,
    archived: Callable[[str], Document],
    address: str = "",
    collection: str = "",
    *,
    everything: bool = False,
) -> list[Document]:
    """
    Return the archived documents to restore: the one at *address*, those of *collection*, or all of them.

    Args:
        archived: Resolves the address of an archived document: `Archiving.named`.

    Raises:
        InvalidInput: not exactly one of the three was given; else as *archived*.
    """
    if [bool(address.strip()), bool(collection), everything].count(True) != 1:
        raise InvalidInput("INVALID_INPUT", "Name one note, one collection, or all, to restore.")
    if address.strip():
        return [archived(address)]
    return archiving.archived("", collection)


def _reason(document: Document, policy: ArchivePolicy) -> str:
    days = policy.days_of(document.content_type)
    return f"written {document.authored_at[:10]}, neither changed nor read for more than {days:g} days"


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


class RestoreArchived:
    """Restores archived documents, except those whose files are gone: the next pass would remove them."""

    def __init__(self, archiving: Archiving, files: FileSource, folders: Sequence[Folder]) -> None:
        self._archiving = archiving
        self._files = files
        self._folders = folders

    def __call__(self, documents: Sequence[Document], by: str) -> RestoreReport:
        """Serve *documents* again, in one transaction, and report those left archived."""
        gone = {number for folder in self._folders for number in self._without_file(folder, documents)}
        restored = self._archiving.restore([one.id for one in documents if one.id not in gone], by)
        return RestoreReport(restored, [one for one in documents if one.id in gone])

    def _without_file(self, folder: Folder, documents: Sequence[Document]) -> list[int]:
        """Return the documents of *folder* that the next pass over it would remove."""
        of_folder = {one.path: one.id for one in documents if one.collection == folder.name and one.stamp}
        if not of_folder:
            return []
        scan = scan_folder(self._files, folder, of_folder.keys())
        here = {file.path for file in scan.files}
        return [number for path, number in of_folder.items() if scan.root_exists and path not in here]


MOST = 5  # proposals of each kind, as a person has to read them


class Proposals(NamedTuple):
    """Served documents that are neither pinned nor snoozed, most surfaced first."""

    pin: tuple[Document, ...] = ()
    snooze: tuple[Document, ...] = ()


class Propose:
    """Reads the retained record of surfaced documents; changes nothing."""

    def __init__(self, documents: DocumentStore, telemetry: Telemetry, clock: Clock) -> None:
        self._documents = documents
        self._telemetry = telemetry
        self._clock = clock

    def __call__(self) -> Proposals:
        """Return up to `MOST` documents of each kind."""
        stats, now = surfaced_stats(self._telemetry), iso_utc(self._clock.now_ms())
        known = self._documents.many(stats).values()
        free = [
            one for one in known if one.inactive is None and not one.is_pinned and not one.is_snoozed(now)
        ]

        def chosen(fits: Callable[[RecallStats], bool]) -> tuple[Document, ...]:
            found = [one for one in free if fits(stats[one.id])]
            return tuple(sorted(found, key=lambda one: (-stats[one.id].recalls, one.display_path))[:MOST])

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


class Sweep:
    """Archives and purges by a policy. It ignores ``only_previews``: the caller decides whether to preview."""

    def __init__(self, archiving: Archiving, forgetting: Forgetting, propose: Propose) -> None:
        self._archiving = archiving
        self._forgetting = forgetting
        self._propose = propose

    def preview(self, policy: ArchivePolicy) -> SweepOutcome:
        """Return the effects of a sweep; nothing is changed."""
        archiving = self._archiving
        return SweepOutcome(True, archiving.due(policy), archiving.due_for_good(policy), self._propose())

    def __call__(self, policy: ArchivePolicy, by: str) -> SweepOutcome:
        """
        Archive and purge the documents that are due.

        Raises:
            VaultError: nothing was archived, or nothing more was forgotten.
        """
        due_for_good = self._archiving.due_for_good(policy)
        archived = self._archiving.sweep(policy, by)
        left = self._forgetting(due_for_good, by, "archived for long", Act.PURGE).left
        return SweepOutcome(False, archived, due_for_good, left=left)
