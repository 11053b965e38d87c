"""
Pins, snoozes, archiving and restoring of documents; each act is recorded with author and reason, and can be undone.

The curator finds duplicates, and recommends next steps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter

from clawmem.app.services.capture.visibility import made_private
from clawmem.app.services.documents.listing import candidates_of, every_served
from clawmem.app.services.documents.lookup import Lookup
from clawmem.app.services.documents.records import TitledFile, titled_file
from clawmem.app.services.indexing.folders import Folder
from clawmem.app.services.indexing.publish import Publisher
from clawmem.app.services.indexing.update import has_lost_file
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.lifecycle.policy import (
    ArchivePolicy,
    is_due,
    is_due_for_good,
    is_pin_candidate,
    is_snooze_candidate,
    surfaced_stats,
)
from clawmem.domain.retrieval.fusion import lexical_score
from clawmem.domain.retrieval.query_forms import query_forms
from clawmem.domain.security.origin import is_verified
from clawmem.domain.surfacing.turns import CONTEXT_SURFACING
from clawmem.domain.text.dates import coming_days
from clawmem.domain.text.likeness import jaccard
from clawmem.domain.text.words import words
from clawmem.domain.text.written_dates import read_moment
from clawmem.ports.clock import Clock
from clawmem.ports.documents import ClaimKind, DocumentStore, SuccessionStore
from clawmem.ports.errors import InvalidInput, NotFound, NotServed
from clawmem.ports.files import FileSource
from clawmem.ports.indexes import LexicalIndex
from clawmem.ports.journal import Act, ActEntry, ActJournal
from clawmem.ports.records import Document, Grain, InactiveReason, Scope
from clawmem.ports.sessions import UsageStore
from clawmem.ports.storage import Transactions
from clawmem.ports.telemetry import Telemetry

MOST = 5  # proposals of each kind, and suggested documents, as a person has to read them


@dataclass(frozen=True)
class RecordedAct:
    """An act: a change of a document, with its author, time and reason."""

    id: int
    act: Act
    file: str | None
    by: str
    at: str
    why: str


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


@dataclass(frozen=True, slots=True)
class RestoreReport:
    """The documents that are served again, a sentence for each one whose file is gone, and those ``served`` before."""

    documents: list[TitledFile]
    problems: list[str]
    served: list[TitledFile]


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """
    Changes the state of documents, never their text. A change to the current state is ignored.

    An archived document keeps its body, path and metadata.
    """

    documents: DocumentStore
    acts: ActJournal
    usage: UsageStore
    telemetry: Telemetry
    transactions: Transactions
    publisher: Publisher
    lookup: Lookup
    successions: SuccessionStore
    files: FileSource
    folders: Sequence[Folder]
    clock: Clock

    def pin(self, document: Document, by: str, why: str = "", *, pinned: bool = True) -> None:
        """Pin *document*, so that it precedes equally good ones, or unpin it; a pin in its front matter stays."""
        if document.pinned is not pinned:
            act = Act.PIN if pinned else Act.UNPIN
            with self.transactions.writing():
                self.documents.pin(document.id, pinned)
                self.acts.add([ActEntry(document.id, act, by, self._now(), why)])

    def snooze(self, document: Document, until: str | None, by: str, why: str = "") -> None:
        """
        Exclude *document* from surfacing until a time, see `read_until`; ``None`` ends the snooze.

        Searches still find the document.
        """
        before = document.snoozed_until
        if until != before:
            act = Act.UNSNOOZE if until is None else Act.SNOOZE
            with self.transactions.writing():
                self.documents.snooze(document.id, until)
                self.acts.add([ActEntry(document.id, act, by, self._now(), why, before or "")])

    def withhold(self, document: Document, by: str, why: str = "", *, private: bool = True) -> None:
        """
        Make *document* private, so that no model sees it unasked, or take that back.

        What the front matter of a note, or its collection, says stays.
        """
        if (document.id in made_private(self.acts)) is not private:
            act = Act.PRIVATE if private else Act.PUBLIC
            with self.transactions.writing():
                self.acts.add([ActEntry(document.id, act, by, self._now(), why)])

    def supersede(self, document: Document, newer: Document | None, by: str, why: str = "") -> None:
        """
        Let *newer* supersede *document*, or ``None`` any more. Claims of notes stay.

        Raises:
            InvalidInput: *newer* is the document itself, or others wrote it.
        """
        if newer and (newer.id == document.id or not is_verified(newer.origin)):
            raise InvalidInput(
                "INVALID_INPUT", f"{newer.display_path} cannot supersede {document.display_path}."
            )
        earlier = self.successor_of(document)
        if (newer and newer.id) == (earlier and earlier.id):
            return
        with self.transactions.writing():
            self.successions.decide(document.id, newer and newer.id)
            act, before = Act.SUPERSEDE if newer else Act.REINSTATE, earlier.display_path if earlier else ""
            why = why or (f"by {newer.display_path}" if newer else "")
            self.acts.add([ActEntry(document.id, act, by, self._now(), why, before)])

    def successor_of(self, document: Document) -> Document | None:
        """Return the note that supersedes *document* by the decision of a person."""
        places = (
            claim.place
            for claim in self.successions.claims()
            if claim.document_id == document.id and claim.kind is ClaimKind.REPLACED_BY
        )
        return next((self.documents.at(*place) for place in places), None)

    def read_until(self, text: str) -> str:
        """
        Return the time that *text* names: a day in words, a date, a time, or days from now such as ``30d``.

        A day without its year, such as 5 January, is the next one.

        Raises:
            InvalidInput: *text* is none of these, or the time is not in the future.
        """
        now_ms, text = self.clock.now_ms(), text.strip()
        zone = self.clock.zone()
        until_ms = read_moment(text, now_ms, 1, zone)
        days = coming_days(f"in {text}", now_ms=now_ms, zone=zone) if until_ms is None else None
        if days and days[2].strip() in ("", "in"):
            until_ms = read_moment(days[0], now_ms, 1, zone)
        if until_ms is None and text[:-1].isdecimal() and text[-1] == "d":
            raise InvalidInput("OUT_OF_BOUNDS", f"{text} is too far. Choose at most 999999d.")
        if until_ms is None:
            message = f"{text!r} is no day. Write it as 2026-01-31, tomorrow, friday, in 3 weeks, or 30d."
            raise InvalidInput("INVALID_INPUT", message)
        if until_ms <= now_ms:
            raise InvalidInput("OUT_OF_BOUNDS", "Choose a day that is still to come.")
        return iso_utc(until_ms)

    def due(self, policy: ArchivePolicy) -> list[Document]:
        """Return the documents that *policy* would archive now, last written first; nothing is changed."""
        now_ms = self.clock.now_ms()
        return [note for note in self.documents.latest() if is_due(note, policy, now_ms)]

    def due_for_good(self, policy: ArchivePolicy) -> list[Document]:
        """Return the documents archived for longer than *policy* allows, last written first; nothing is changed."""
        now_ms, since = self.clock.now_ms(), self.acts.last(Act.ARCHIVE)
        return [note for note in self.archived() if is_due_for_good(since.get(note.id, ""), policy, now_ms)]

    def sweep(self, policy: ArchivePolicy, by: str) -> list[Document]:
        """
        Archive and return the documents that are due, even if *policy* only previews.

        Raises:
            VaultError: nothing was archived.
        """
        due = self.due(policy)
        days = {note.id: policy.days_of(note.content_type) for note in due}
        why = "written {}, neither changed nor read for more than {:g} days"
        self.archive([(note, why.format(note.authored_at[:10], days[note.id])) for note in due], by)
        return due

    def archive(self, documents: Sequence[tuple[Document, str]], by: str) -> None:
        """Archive served documents, each for its reason, and record who did it and why."""
        now = self._now()
        with self.transactions.writing():
            self.acts.add(ActEntry(note.id, Act.ARCHIVE, by, now, why) for note, why in documents)
            self.publisher.withdraw([note.id for note, _ in documents], InactiveReason.ARCHIVED)

    def archived(self, collection: str = "") -> list[Document]:
        """Return archived documents, last written first."""
        return [
            document
            for document in self.documents.latest(active=False)
            if document.inactive is InactiveReason.ARCHIVED and collection in ("", document.collection)
        ]

    def to_restore(
        self, address: str = "", collection: str = "", *, everything: bool = False
    ) -> list[Document]:
        """
        Return the archived documents to restore: those of *collection*, all, or the one at *address*, also if served.

        Raises:
            InvalidInput: not exactly one of the three was given.
            NotFound: with the archived documents that contain words of *address*.
        """
        if [bool(address.strip()), bool(collection), everything].count(True) != 1:
            raise InvalidInput("INVALID_INPUT", "Name one note, a collection with -c NAME, or --all.")
        if not address.strip():
            return self.archived(collection)
        try:
            return [self.lookup.find(address)]
        except NotServed as error:
            if error.document.inactive is InactiveReason.ARCHIVED:
                return [error.document]
            raise
        except NotFound as error:
            shared = dict[Document, int]()  # words of the address that an archived document contains
            for note in self.archived():
                text = set(words(f"{note.title}\n{self.documents.body(note.id) or ''}"))
                shared[note] = len(text.intersection(query_forms(address).words))
            similar = sorted(filter(shared.get, shared), key=lambda note: -shared[note])[:MOST]
            near = candidates_of(self.documents, similar)
            remark = "A backup is opened with --vault FILE; a bundle is read with: clawmem import bundle FILE"
            raise NotFound("archived document", error.name, candidates=near, remark=remark) from error

    def restore(self, documents: Sequence[Document], by: str, why: str = "") -> RestoreReport:
        """
        Serve archived *documents* again, except those whose files are gone: the next pass would remove them.

        Restoring counts as an access, so that the next sweep does not archive the documents again. Other documents,
        such as forgotten ones, are left unchanged.
        """
        # The next pass keeps a document whose file cannot be read.
        roots, served = {folder.name: folder.root for folder in self.folders}, self.documents.collections()
        faults = {}
        for note in documents:
            if note.stamp and note.collection not in {*roots, *served}:
                command = f"clawmem collection add FOLDER --name {note.collection}"
                faults[note.id] = f"its collection is not configured any more. Run: {command}"
            elif note.inactive and has_lost_file(self.files, roots, note):
                faults[note.id] = "its file is gone. Put the file back, then restore it again."
        known = self.documents.many(note.id for note in documents if note.id not in faults)
        archived = [note for note in known.values() if note.inactive is InactiveReason.ARCHIVED]
        archived.sort(key=attrgetter("id"))
        now = self._now()
        with self.transactions.writing():
            self.acts.add(ActEntry(document.id, Act.RESTORE, by, now, why) for document in archived)
            for document in archived:
                self.publisher.publish_again(document)
                self.usage.note([document.id], now)
        stay = (note for note in documents if note.id in faults)
        problems = [f"{note.display_path} stays archived: {faults[note.id]}" for note in stay]
        active = [titled_file(note) for note in known.values() if note.inactive is None]
        return RestoreReport([*map(titled_file, archived)], problems, active)

    def latest(self, limit: int) -> list[RecordedAct]:
        """Return the latest acts, the last one first."""
        return self._recorded(self.acts.latest(limit))

    def undo(self, act_id: int, by: str) -> RecordedAct:
        """
        Undo one act by a recorded counter-act; return the act that was undone.

        Raises:
            NotFound: no such act.
            InvalidInput: ``NOT_UNDOABLE``: the document is forgotten, or a later act changed it.
        """
        entry = self.acts.get(act_id)
        if entry is None:
            raise NotFound("act", str(act_id))
        [last] = self.acts.latest(1, entry.document_id)
        document = self.documents.get(entry.document_id)
        if document is None or {Act.FORGET, Act.PURGE} & {entry.act, last.act}:
            raise InvalidInput("NOT_UNDOABLE", "What was forgotten is gone and cannot be brought back.")
        if last.id != entry.id:
            later = f"{document.display_path} has been changed since, by act {last.id} ({last.act})."
            raise InvalidInput("NOT_UNDOABLE", f"{later} Take that back first.")
        why = f"takes back act {act_id}"
        if entry.act in (Act.PIN, Act.UNPIN):
            self.pin(document, by, why, pinned=entry.act is Act.UNPIN)
        elif entry.act is Act.ARCHIVE:
            if problems := self.restore([document], by, why).problems:
                raise InvalidInput("NOT_UNDOABLE", problems[0])
        elif entry.act is Act.RESTORE:
            self.archive([(document, why)], by)
        elif entry.act in (Act.PRIVATE, Act.PUBLIC):
            self.withhold(document, by, why, private=entry.act is Act.PUBLIC)
        elif entry.act in (Act.SUPERSEDE, Act.REINSTATE):
            earlier = self.lookup.find(entry.before) if entry.before else None
            self.supersede(document, earlier, by, why)
        else:
            self.snooze(document, entry.before or None, by, why)
        return self._recorded([entry])[0]

    def _recorded(self, entries: Sequence[ActEntry]) -> list[RecordedAct]:
        known = self.documents.many({entry.document_id for entry in entries})
        # the name of a forgotten memory may be made of its words
        files = {
            number: f"#{self.acts.latest(1, number)[0].before}"
            if note.inactive is InactiveReason.FORGOTTEN
            else note.display_path
            for number, note in known.items()
        }
        return [
            RecordedAct(entry.id, entry.act, files.get(entry.document_id), entry.by, entry.at, entry.why)
            for entry in entries
        ]

    def status(self, policy: ArchivePolicy | None) -> LifecycleStatus:
        """Return the current statistics."""
        now = self._now()
        stats = surfaced_stats(self.telemetry.recalls(), CONTEXT_SURFACING)
        # The last time that each document was found by a question, or surfaced and then used; oldest first.
        recalled = {
            hit.document_id: recall.asked_at
            for recall in self.telemetry.recalls()
            for hit in recall.hits
            if recall.verb != CONTEXT_SURFACING or hit.was_referenced
        }
        served = [*every_served(self.documents)]
        accesses = [
            accessed_at
            for document in served
            if (accessed_at := max(document.last_accessed_at or "", recalled.get(document.id, "")))
        ]
        away = Counter(document.inactive for document in self.documents.latest(active=False))
        pin, snooze = self.proposals()
        return LifecycleStatus(
            active=len(served),
            archived=away[InactiveReason.ARCHIVED],
            forgotten=away[InactiveReason.FORGOTTEN],
            pinned=sum(document.is_pinned for document in served),
            snoozed=sum(document.is_snoozed(now) for document in served),
            never_accessed=len(served) - len(accesses),
            oldest_access=min(accesses, default=None),
            recalls=self.telemetry.count(),
            surfaced=sum(document.id in stats for document in served),
            pin_candidates=len(pin),
            snooze_candidates=len(snooze),
            policy=policy,
        )

    def proposals(self, limit: int | None = None) -> tuple[list[Document], list[Document]]:
        """Return documents to pin and to snooze, most surfaced first; pinned and snoozed ones are left out."""
        now = self._now()
        stats = surfaced_stats(self.telemetry.recalls(), CONTEXT_SURFACING)
        free = [
            document
            for document in self.documents.many(stats).values()
            if document.inactive is None and not document.is_pinned and not document.is_snoozed(now)
        ]
        free.sort(key=lambda note: (-stats[note.id].recalls, note.display_path))
        pin = [note for note in free if is_pin_candidate(stats[note.id])]
        return pin[:limit], [note for note in free if is_snooze_candidate(stats[note.id])][:limit]

    def _now(self) -> str:
        return iso_utc(self.clock.now_ms())


EXAMINED = 50  # notes to examine, those with the lowest confidence first
LOOKED_AT = 5  # candidates per note, found by its title
UNSURE = 0.4  # stored confidence below which a note is archived in favour of a duplicate
LEAST_SCORE = 0.7  # score of the duplicate in a search for the title of the note: |BM25| of 2.33
LEAST_SHARED = 0.4  # Jaccard similarity of the words of both notes
SHORTEST = 4  # letters of a word that is compared
GOOD = 0.3  # least score at which a note counts as found by its own title
OFTEN_UNUSED, MANY = 0.3, 50  # share of documents never accessed, and least number of documents, to report it


@dataclass(frozen=True, slots=True)
class CuratorReport:
    """The advice of an examination: sentences, each with a command, and the file of the report, for the hook."""

    timestamp: str
    actions: list[str]
    written_to: str


@dataclass(frozen=True, slots=True)
class Curator:
    """
    Finds duplicates by words alone, and examines the vault.

    Duplicates are archived with the reason, and can be restored.
    """

    documents: DocumentStore
    lexical: LexicalIndex
    lifecycle: Lifecycle
    clock: Clock

    def duplicates(self, most: int = EXAMINED) -> list[tuple[Document, Document, float]]:
        """
        Return the notes that repeat others of their collection, among the *most* notes of lowest confidence.

        With each comes the note that stays, and the share of words that both contain.
        """
        unsure = [note for note in self.documents.latest() if note.confidence < UNSURE and not note.is_pinned]
        unsure.sort(key=attrgetter("confidence", "id"))
        duplicates: dict[int, tuple[Document, Document, float]] = {}
        for document in unsure[:most]:
            # A note that is kept in favour of another one is no duplicate itself, and vice versa.
            if any(other.id == document.id for _, other, _ in duplicates.values()):
                continue
            own = self._words(document)
            query, scope = query_forms(document.title).relaxed, Scope(frozenset({document.collection}))
            hits = self.lexical.search(query, Grain.DOCUMENT, LOOKED_AT + 1, scope)
            known = self.documents.many(hit.key.document_id for hit in hits)
            for hit in hits:
                other = known.get(hit.key.document_id)
                if other is None or other.id in {document.id, *duplicates}:
                    continue
                overlap = jaccard(own, self._words(other))
                if lexical_score(hit.score) >= LEAST_SCORE and overlap >= LEAST_SHARED:
                    duplicates[document.id] = document, other, overlap
                    break
        return list(duplicates.values())

    def _words(self, document: Document) -> frozenset[str]:
        body = self.documents.body(document.id) or ""
        return frozenset(word for word in words(body) if len(word) >= SHORTEST)

    def examine(
        self, policy: ArchivePolicy | None, problems: Sequence[str], written_to: str
    ) -> CuratorReport:
        """
        Return the result of an examination.

        Args:
            problems: Sentences about other problems that the caller found.
        """
        top_score = 0.0
        for document in self.documents.latest(limit=1):
            hits = self.lexical.search(query_forms(document.title).relaxed, Grain.DOCUMENT, 1)
            top_score = max((lexical_score(hit.score) for hit in hits), default=0.0)
        status = self.lifecycle.status(policy)
        is_found = top_score > GOOD or not status.active
        idle, duplicates = len(self.lifecycle.due(policy)) if policy else 0, len(self.duplicates())
        proposals = status.pin_candidates + status.snooze_candidates
        unused = status.never_accessed / max(1, status.active)
        advice = {
            "The latest note is not found by its own title: clawmem doctor, then clawmem rebuild.": not is_found,
            f"{idle} notes are idle by the policy: clawmem archive --dry-run names them.": idle,
            f"{duplicates} unsure notes say what others say: clawmem maintain consolidate --dry-run.": duplicates,
            f"{proposals} notes should be pinned or snoozed: clawmem ui lists them in its inbox.": proposals,
            f"{unused:.0%} of the notes were never of use: clawmem report shows which.": status.active > MANY
            and unused > OFTEN_UNUSED,
        }
        actions = [*problems, *(sentence for sentence, is_due in advice.items() if is_due)]
        return CuratorReport(iso_utc(self.clock.now_ms()), actions, written_to)
