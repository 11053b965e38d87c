"""Index pass: synchronizes a collection's records with its folder."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from operator import attrgetter
from pathlib import Path
from posixpath import basename, dirname
from typing import Annotated
from zlib import crc32

from pydantic import Field

from clawmem.app.services.capture.visibility import PRIVATE
from clawmem.app.services.indexing.collections import record_trust
from clawmem.app.services.indexing.folders import (
    Exclusions,
    Folder,
    Ownership,
    missing_folder,
    root_of,
    scan_folder,
    seems_unmounted,
)
from clawmem.app.services.indexing.publish import Publisher, apply_in_chunks
from clawmem.app.services.indexing.source import ParsedSource, ParseFrontMatter, parse_source
from clawmem.app.services.progress import Progress
from clawmem.domain.briefing.blocks import few
from clawmem.domain.documents import identity
from clawmem.domain.documents.links import link_keys, link_targets
from clawmem.domain.documents.names import read_address
from clawmem.domain.lifecycle.moves import PossibleMove, changed_at, moved_notes, nearness
from clawmem.domain.security.origin import verified_if_any
from clawmem.domain.text.likeness import likeness
from clawmem.ports.clock import Clock
from clawmem.ports.documents import (
    Claim,
    ClaimKind,
    DocumentStore,
    Link,
    LinkKind,
    LinkStore,
    SuccessionStore,
)
from clawmem.ports.errors import ExtraMissing, InvalidInput, SourceMissing, SourceUnreadable
from clawmem.ports.files import FileSource
from clawmem.ports.journal import ForgottenTexts
from clawmem.ports.knowledge import Relation, RelationKind, RelationStore
from clawmem.ports.records import Document, Fragment, InactiveReason, SourceFile
from clawmem.ports.sessions import FOLDER_READER, UNFINISHED, CaptureStore, Cursor
from clawmem.ports.storage import Transactions

# Notes read before a commit, which an interrupted pass has to read again.
BATCH_NOTES = 32
BATCH_CHARACTERS = 200_000

EXCLUDED = "excluded"  # the cursor with a checksum of what the last pass excluded

MOST_PAIRS = 2500  # of notes whose files are gone and new files with other names, whose texts are compared

WITHHELD = (InactiveReason.ARCHIVED, InactiveReason.SUPERSEDED)  # until restored or edited

ORIGIN = "links"  # the writer of the relations that follow from links


@dataclass(frozen=True, slots=True)
class NoteClaims:
    """Claims of notes to supersede others, and the notes that their addresses name now."""

    documents: DocumentStore
    successions: SuccessionStore
    links: LinkStore

    def aim(self, transactions: Transactions, collection: str) -> list[str]:
        """
        Aim every claim at the note that its address names now; report those of *collection* that name none or several.

        Notes come, move and change their titles, so the addresses are read again after each pass.
        """
        recorded = self.successions.claims()
        documents = self.documents.many({claim.document_id for claim in recorded}) if recorded else {}
        moved, problems = list[Claim](), list[str]()
        for claim in recorded:
            note = documents[claim.document_id]
            notes = self._named(claim, note)
            if not notes and (moved_note := self.documents.at(*claim.place)) and moved_note.id != note.id:
                notes = [moved_note]  # the address names the place from which it moved
            target = notes[0] if len(notes) == 1 else None
            place = (target.collection, target.path) if target else (note.collection, claim.address)
            moved += [claim._replace(place=place)] if place != claim.place else []
            if not target and note.collection == collection:
                names = ", ".join(sorted(document.display_path for document in notes))
                fault = "no other note is called so. Write its path, title or [[link]]."
                if notes:
                    fault = f"{len(notes)} notes are called so: {names}. Write the path of one."
                problems.append(f"{note.display_path}: {claim.kind} names {claim.address!r}, but {fault}")
        if moved:
            with transactions.writing():
                for claim in moved:
                    self.successions.aim(claim)
        return problems

    def _named(self, claim: Claim, note: Document) -> list[Document]:
        """
        Return the other notes that a claim of *note* names: by a docid, a path, or as a link does.

        The path of a note that is not served names it too. Notes of the user and of assistants go before those of others.
        """
        if claim.kind is ClaimKind.REPLACED_BY:
            return [*self.documents.many([int(claim.address)]).values()]
        try:
            address = read_address(claim.address, dirname(note.path))[0]
        except InvalidInput:
            return []
        if address.docid:
            return [document for document in self.documents.by_docid(address.docid) if document.id != note.id]
        place = identity.parse_virtual_path(address.name)
        # YAML removes the brackets of an unquoted [[link|shown]].
        target = "/".join(filter(None, place)) if place else address.name.partition("|")[0].strip()
        link = Link(LinkKind.WIKILINK, target, link_keys(target)[0], 1)
        names = [name for notes in self.links.named(link_keys(target)).values() for name in notes]
        documents = self.documents.many({name.document_id for name in names} - {note.id})
        eligible = {document.id for document in verified_if_any([*documents.values()])}
        named = [name for name in names if name.document_id in eligible]
        if numbers := link_targets(link, note.collection, note.path, named):
            return [documents[number] for number in numbers]
        gone = self.documents.at(*(place or (note.collection, target.strip("/"))))
        return [gone] if gone and gone.id != note.id else []


@dataclass(frozen=True, slots=True)
class LinkTargets:
    """Notes that the links of other notes lead to, and the relations that follow from links."""

    documents: DocumentStore
    links: LinkStore
    relations: RelationStore
    transactions: Transactions

    def aim(self) -> None:
        """
        Aim the links that notes which came, moved, changed their names or went may affect. No file is read.

        A note that links to another is related to it. The weight of the relation is 1 / √n for a note with links to n
        notes: a link from a list of a thousand notes says little about each of them. How many notes link to a note does
        not count, so a hub is not preferred.
        """
        while changed := self.links.changed(32):  # of one transaction
            with self.transactions.writing():
                outdated = self.links.outdated(changed)
                notes = self.documents.many({link.document_id for link in outdated})
                named = self.links.named({key for link in outdated for key in link_keys(link.link.target)})
                for link in outdated:
                    note, keys = notes[link.document_id], link_keys(link.link.target)
                    names = [name for key in keys for name in named.get(key, ())]
                    targets = link_targets(link.link, note.collection, note.path, names)
                    aimed = link._replace(target_id=targets[0] if targets else None)
                    if aimed != link:
                        self.links.aim([aimed])
                sources = {link.document_id for link in outdated} | set(changed)
                contexts: dict[int, dict[int, str]] = defaultdict(dict)
                for link in self.links.outgoing(sources):
                    if link.target_id is not None and link.target_id != link.document_id:
                        contexts[link.document_id].setdefault(link.target_id, link.link.context)
                kind, relations = RelationKind.LINKS_TO, list[Relation]()
                notes = self.documents.many(contexts)
                for source, linked in contexts.items():
                    weight, at = 1 / math.sqrt(len(linked)), notes[source].modified_at
                    relations += [
                        Relation(source, target, kind, weight, ORIGIN, at, {"context": context})
                        for target, context in linked.items()
                    ]
                self.relations.renew(kind, ORIGIN, sources, relations)
                self.links.settle(changed)


@dataclass(slots=True)
class PassReport:
    """
    Counts of one pass; ``problems`` are sentences about files that were not indexed, or about their references.

    ``unread`` files and folders could not be read, or have lost all files; their documents are kept.
    ``excluded`` are the files and folders that were left out, by the file or setting with the rule, and
    ``has_other_exclusions`` is whether they are others than in the pass before. ``lost_pins`` are the problems of pinned documents whose files are gone, by document; the pass of another collection may find their files.
    """

    collection: str
    root: Annotated[str, Field(exclude=True)] = ""
    added: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    unread: int = 0
    excluded: dict[str, int] = field(default_factory=dict)
    has_other_exclusions: Annotated[bool, Field(exclude=True)] = False
    problems: list[str] = field(default_factory=list)
    lost_pins: Annotated[dict[int, str], Field(exclude=True)] = field(default_factory=dict)

    def __str__(self) -> str:
        changes = f"{self.added} added, {self.updated} updated, {self.removed} removed"
        return f"{self.collection}: {changes}, {self.unchanged} unchanged"


@dataclass(frozen=True, slots=True)
class UpdateCollection:
    """
    One pass over one folder, in write transactions of at most about 50 ms.

    Files are listed, read and split outside transactions. Each transaction compares the record of a path with the
    record that the pass has read, so that concurrent passes, and notes forgotten during a pass, are not overwritten:
    a file that another process has indexed meanwhile is left to the next pass.
    An interrupted pass keeps its commits, and the next pass continues.

    An unchanged file only costs a stat call. An unreadable file keeps its record; a missing folder, or a part of it
    that cannot be listed, deactivates nothing. A file that was moved or renamed stays the same document, archived or not. A file with
    the text of a forgotten note is not indexed.

    Args:
        forget_again: Called before each pass, see `ForgottenPlaces.agree`.
        roots: The absolute folder of each collection by name, to detect moves between them.
    """

    documents: DocumentStore
    transactions: Transactions
    publisher: Publisher
    claims: NoteClaims
    links: LinkTargets
    forgotten_texts: ForgottenTexts
    captures: CaptureStore
    files: FileSource
    clock: Clock
    parse_front_matter: ParseFrontMatter
    forget_again: Callable[[], object] = lambda: None
    roots: Mapping[str, str] = field(default_factory=dict)

    def __call__(
        self,
        folder: Folder,
        *,
        force: bool = False,
        allow_empty: bool = False,
        progress: Progress = lambda done, total: None,
    ) -> PassReport:
        """
        Index *folder*; with *force* read every served file again, also with an unchanged stamp and hash.

        With *allow_empty* a folder without any matching file loses all of its documents, however many they are.

        Raises:
            VaultError: earlier commits are kept.
        """
        self.forget_again()  # repeats forgetting in a recreated vault
        update = _Pass(self, folder, force=force, allow_empty=allow_empty)
        update.run(progress)
        return update.report


@dataclass(frozen=True, slots=True)
class _Change:
    """
    A file that was read, and the record it was compared with; without ``parsed`` only its stamp is new.

    ``former`` is the document of the file before it was moved.
    """

    file: SourceFile
    known: Document | None
    parsed: ParsedSource | None = None
    former: Document | None = None


class _Pass:
    def __init__(self, update: UpdateCollection, folder: Folder, *, force: bool, allow_empty: bool) -> None:
        self._update = update
        self._documents = update.documents
        self._folder = folder
        self._force = force
        self._allow_empty = allow_empty
        self._roots = {**update.roots, folder.name: folder.root}
        self._exclusions = Exclusions(update.files, folder)
        self._batch: list[_Change] = []
        self._new: list[_Change] = []  # files that may be those of notes which are gone
        self._gone: list[Document] = []
        self._homeless: list[Document] = []  # whose whole folder is gone, in other collections
        self._changed: dict[str, SourceFile] = {}  # new and changed files
        self._texts: dict[str, str] = {}
        self._saved: list[tuple[Document, Sequence[Fragment]]] = []  # in this transaction
        self._taken: set[int] = set()  # documents that moved
        self._placed: dict[int, Document] = {}  # their records, and of those that changed places with them
        self.report = PassReport(folder.name, folder.root)

    def run(self, progress: Progress) -> None:
        folder, update, report = self._folder, self._update, self.report
        # Read the records before listing files, so that a document added in between is not taken for a deleted file.
        if folder.only is None:
            known = self._documents.sources(folder.name)
        else:
            records = {path: self._documents.at(folder.name, path) for path in folder.only}
            known = {path: document for path, document in records.items() if document}
        exclusions, scan = self._exclusions, scan_folder(update.files, folder, self._exclusions)
        if not scan.root_exists:
            has_documents = any(note.inactive is None for note in known.values())
            self._miss(" ".join(missing_folder(folder, scan.problem, has_documents=has_documents)).rstrip())
            return
        for path in scan.unreadable:
            self._miss(f"{exclusions.why_unreadable(path)}; no record of it was changed.")
        for path in scan.misnamed:
            self._miss(f"{path} was skipped: its name is not UTF-8. Rename it.")
        self._changed = {
            file.path: file
            for file in scan.files
            if file.path not in known or known[file.path].stamp != file.stamp.recorded
        }
        self._mark(PRIVATE, Cursor(int(folder.private)))
        if self._changed:
            self._mark(FOLDER_READER, UNFINISHED)
        paths = {file.path for file in scan.files}
        served = [note for note in known.values() if note.inactive is None and note.stamp]
        self._gone = [note for note in served if note.path not in paths and not scan.hides(note.path)]
        for name, root in self._roots.items() if self._changed else ():
            if name != folder.name and not Path(root).is_dir():
                notes = self._documents.sources(name).values()
                self._homeless += [note for note in notes if note.inactive is None and note.stamp]
        # A moved file keeps its time, a copy does not.
        left = {note.modified_at for note in (*self._gone, *self._homeless)}
        files = sorted(scan.files, key=lambda file: changed_at(file) not in left) if left else scan.files
        for done, file in enumerate(files, start=1):
            self._visit(file, known.get(file.path))
            characters = sum(len(change.parsed.body) for change in self._batch if change.parsed)
            if len(self._batch) >= BATCH_NOTES or characters >= BATCH_CHARACTERS:
                self._commit()
            progress(done, len(scan.files))
        self._commit_new()
        report.excluded |= dict(exclusions.counts.most_common())
        self._remove(len(served), has_files=bool(paths))
        record_trust(self._documents, update.transactions, update.publisher, known.values(), folder.origin)
        update.links.aim()
        report.problems += update.claims.aim(update.transactions, folder.name)
        excluded = Cursor(crc32(repr(sorted(report.excluded.items())).encode()))
        report.has_other_exclusions = update.captures.cursor(folder.name, EXCLUDED) != excluded
        self._mark(EXCLUDED, excluded)
        self._mark(FOLDER_READER, Cursor())

    def _mark(self, reader: str, mark: Cursor) -> None:
        """Record whether the folder is being read, is private, and what is excluded; a killed pass leaves `UNFINISHED`."""
        captures, name = self._update.captures, self._folder.name
        if self._folder.only is None and captures.cursor(name, reader) != mark:
            with self._update.transactions.writing():
                captures.advance(name, reader, mark)

    def _visit(self, file: SourceFile, known: Document | None) -> None:
        """Read and parse a file, outside of transactions, unless its record is current."""
        was_served = known is not None and known.inactive is None
        again = was_served and self._force
        is_new = known is None or known.inactive is InactiveReason.REMOVED
        if known and known.stamp == file.stamp.recorded and not again and not is_new:
            self.report.unchanged += was_served
            return
        if identity.is_forgotten(known):
            self._exclusions.counts["forgetting"] += 1
            return
        try:
            data = self._update.files.read(self._folder.root, file.path)
            if not again and identity.is_current(known, identity.source_hash(data)):
                self._batch.append(_Change(file, known))
                return
            parsed = self._parse(file, data, known)
            if former := self._former(file, known, parsed.document):
                self._taken.add(former.id)
                parsed = self._parse(file, data, former)  # it keeps the time of its last change
            change = _Change(file, known, parsed, former)
            is_moved = bool(self._gone or self._homeless) and not (known or former)
            (self._new if is_moved and len(self._new) < MOST_PAIRS else self._batch).append(change)
        except SourceUnreadable as error:
            if error.code == ExtraMissing.code:
                self._exclusions.counts["packages that are not installed"] += 1
            else:
                self._miss(str(error))

    def _former(self, file: SourceFile, known: Document | None, document: Document) -> Document | None:
        """
        Return the record that moved to *file*: one with the text of *document* that has left its place, see `nearness`.

        A served one goes before an archived one, and that before a removed one. Of several new files with this text, the
        one with the time of the record, else the first, is the document. Without a text, and for an archived note, the
        whole file is compared.
        """
        if known and known.inactive is None and known.hash == document.hash:
            return None
        gone = (*self._gone, *self._homeless)
        holders = self._documents.holding(document.hash) if document.body_length else gone
        holders = [note for note in holders if note.stamp and note.id not in self._taken]
        same = [note for note in holders if note.source_hash == document.source_hash]
        holders = holders if document.body_length else same
        moved = [note for note in holders if note.inactive is None and self._has_left(note)]
        moved = moved or [note for note in same if note.inactive in WITHHELD and self._has_left(note)]
        if known is None or known.inactive is InactiveReason.REMOVED:
            moved = moved or [note for note in holders if note.inactive is InactiveReason.REMOVED]
        elif not any(self._text_at(path) == known.hash for path in self._changed if moved):
            return None  # the former text of this file is nowhere else, so it was replaced
        nearest = max(moved, key=lambda note: nearness(note, file), default=None)
        return nearest if nearest and (known is None or known.id != nearest.id) else None

    def _has_left(self, note: Document) -> bool:
        """Whether the file of a note is gone, alone or with its folder, or has the text of another note now."""
        if note.collection != self._folder.name or note.path not in self._changed:
            return has_lost_file(self._update.files, self._roots, note)
        text = self._text_at(note.path)
        return text != note.hash and any(other.inactive is None for other in self._documents.holding(text))

    def _text_at(self, path: str) -> str:
        """Return the hash of the text of a new or changed file; empty if it cannot be read."""
        if path not in self._texts:
            self._texts[path] = ""
            with suppress(SourceUnreadable):
                data = self._update.files.read(self._folder.root, path)
                self._texts[path] = self._parse(self._changed[path], data, None).document.hash
        return self._texts[path]

    def _commit_new(self) -> None:
        """Commit the new files; the note whose file is gone and whose text is clearly most like theirs has moved there."""
        left = (note for note in (*self._gone, *self._homeless) if note.id not in self._taken)
        gone = [*filter(self._has_left, left)]
        is_few = len(gone) * len(self._new) <= MOST_PAIRS
        moved = moved_notes(
            PossibleMove(
                likeness(self._documents.body(note.id) or "", change.parsed.body),
                note,
                change.file,
                change.parsed.document.hash,
            )
            for note in gone
            for change in self._new
            if change.parsed and (is_few or basename(note.path) == basename(change.file.path))
        )
        self._batch += [replace(change, former=moved.get(change.file.path)) for change in self._new]
        self._commit()

    def _parse(self, file: SourceFile, data: bytes, known: Document | None) -> ParsedSource:
        return parse_source(
            data,
            self._folder.name,
            file.path,
            file.stamp,
            now_ms=self._update.clock.now_ms(),
            parse_front_matter=self._update.parse_front_matter,
            known=known,
            trust=self._folder.origin,
            extract=self._folder.extract,
            project=self._folder.project,
            about=self._folder.about(file.path) or "",
            split=self._folder.split,
            journal_format=self._exclusions.journal_format,
            zone=self._update.clock.zone(),
        )

    def _commit(self) -> None:
        batch, self._batch = self._batch, []
        transactions = self._update.transactions
        for count, problem in apply_in_chunks(transactions, batch, self._apply, finish=self._index):
            if count:
                setattr(self.report, count, getattr(self.report, count) + 1)
            if problem:
                self.report.problems.append(problem)

    def _index(self) -> None:
        self._update.publisher.index(self._saved)
        self._saved.clear()

    def _apply(self, change: _Change) -> tuple[str, str]:
        """
        Write one change, inside a transaction, unless another process changed the record.

        Returns the count of the report that the change adds to, empty for none, and a problem.
        """
        publisher, known, former, parsed = self._update.publisher, change.known, change.former, change.parsed
        place = self._documents.at(self._folder.name, change.file.path)
        is_left = place is None and known is not None and known.id in self._placed
        if not (is_left or self._is_same(place, known)) or (
            former and not self._is_same(self._documents.get(former.id), former)
        ):
            return "", ""
        before = former or known
        was_served = before is not None and before.inactive is None
        if parsed is None:
            if known:
                stamp = identity.stamp_to_record(change.file.stamp, self._update.clock.now_ms())
                self._documents.touch(known.id, stamp)
            return "unchanged" if was_served else "", ""
        if is_forgotten_file(self._documents, self._update.forgotten_texts, parsed.body, known, former):
            withdrawn = publisher.withdraw([known.id], InactiveReason.REMOVED) if known else 0
            problem = f"{change.file.path} has the text of a note that was forgotten on request. Edit it."
            return "removed" if withdrawn else "", problem
        if former:
            self._documents.move(former.id, parsed.document.collection, parsed.document.path)
            self._placed |= self._documents.many([former.id, *([place.id] if place else [])])
        saved = publisher.save(parsed.document, parsed.body, parsed.fragments, parsed.declared)
        if former and former.inactive in WITHHELD:
            publisher.withdraw([saved.id], former.inactive)
            return "", ""
        self._saved.append((saved, parsed.fragments))
        problem = f"{parsed.document.display_path}: {parsed.complaint}." if parsed.complaint else ""
        return "updated" if was_served else "added", problem

    def _remove(self, served: int, *, has_files: bool) -> None:
        """
        Remove the documents whose files are gone, of *served* ones.

        If nearly all files are gone, or the pattern does not match them any more, or rules exclude all, their documents
        are kept, unless the caller allows otherwise.
        """
        folder, owners = self._folder, Ownership(self._folder.inside)

        def is_unchanged(note: Document) -> bool:
            return self._is_same(self._documents.at(folder.name, note.path), note)

        missing = {note.path: note for note in self._gone if is_unchanged(note)}
        own = {path for path in missing if owners.owner(f"{root_of(folder)}/{path}") is None}
        lost = {path for path in own if not self._exclusions.explained(path)}
        guarded = lost if has_files else own
        if not self._allow_empty and seems_unmounted(self._update.files, folder, len(guarded), served):
            self._miss(
                f"{folder.root} has no files any more of {len(guarded):,} documents of collection {folder.name}, all or "
                f"nearly all, so they are kept, such as {few(sorted(guarded))}. Is its disk mounted, and are the pattern "
                f"{folder.pattern} and the rules that exclude files correct? To remove them, run: clawmem update -c {folder.name} --allow-empty"
            )
            missing = {path: note for path, note in missing.items() if path not in guarded}
        pinned = {missing[path].id: path for path in sorted(lost & missing.keys()) if missing[path].pinned}
        remark = "was pinned, and its file is gone. If it has another text and name now, pin it again."
        self.report.lost_pins = {number: f"{path} {remark}" for number, path in pinned.items()}
        self.report.problems += self.report.lost_pins.values()

        def withdraw(note: Document) -> int:
            withdrawn = [note.id] if is_unchanged(note) else []
            return self._update.publisher.withdraw(withdrawn, InactiveReason.REMOVED)

        self.report.removed += sum(apply_in_chunks(self._update.transactions, missing.values(), withdraw))

    def _is_same(self, document: Document | None, known: Document | None) -> bool:
        """Whether no other process changed the record of a document that was *known* or that this pass moved."""
        expected = self._placed.get(document.id, known) if document else known
        version = attrgetter("id", "collection", "path", "inactive", "source_hash", "stamp")
        return document is expected or (
            None not in (document, expected) and version(document) == version(expected)
        )

    def _miss(self, problem: str) -> None:
        self.report.unread += 1
        self.report.problems.append(problem)


def is_forgotten_text(documents: DocumentStore, forgotten: ForgottenTexts, body: str) -> bool:
    """
    Whether *body* was forgotten on request, and no document contains it any more.

    While another document has the same text, copies of it are indexed.
    """
    return forgotten.holds(body) and not documents.holding(identity.body_hash(body))


def is_forgotten_file(
    documents: DocumentStore, forgotten: ForgottenTexts, body: str, *records: Document | None
) -> bool:
    """
    Whether a file with this *body* has a text that was forgotten on request.

    *records* are those of the file, at its place and before it was moved. Where one has a forgotten text, it is a copy
    that was served when the other note was forgotten, and stays.
    """
    return forgotten.holds(body) and not any(
        forgotten.holds(documents.body(document.id) or "") for document in records if document
    )


def has_lost_file(files: FileSource, roots: Mapping[str, str], document: Document) -> bool:
    """Whether the file of *document* is gone, where its collection has a folder; False if it only cannot be read."""
    if document.stamp and document.collection in roots:
        try:
            files.read(roots[document.collection], document.path)
        except SourceUnreadable as error:
            return isinstance(error, SourceMissing)
    return False
