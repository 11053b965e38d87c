"""
Import of conversations: exchanges become documents, and a second import adds and changes only new exchanges.

Memories are drawn from the imported conversations, by a model or by rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from itertools import chain
from os.path import abspath
from typing import NamedTuple

from clawmem.app.environment.session_topics import project_of
from clawmem.app.services.capture.memories import Memories
from clawmem.app.services.capture.visibility import SAID
from clawmem.app.services.indexing.embed import EmbedReport
from clawmem.app.services.indexing.publish import Declarations, Publisher, apply_in_chunks
from clawmem.app.services.indexing.update import is_forgotten_text
from clawmem.app.services.knowledge.asking import Ask, DailyLimitReached
from clawmem.app.services.progress import Progress
from clawmem.domain.capture.notes import Note, flat, note_body, notes_by_rules
from clawmem.domain.capture.observations import read_notes
from clawmem.domain.conversations.documents import unit_document, unit_fragments, unit_properties
from clawmem.domain.conversations.synthesis import (
    CONFIDENCE,
    LINK_KINDS,
    TASK,
    WRITER,
    memory_notes,
    memory_relations,
    read_links,
    synthesis_prompt,
)
from clawmem.domain.conversations.units import (
    CONVERSATION,
    MIN_UNIT,
    Unit,
    clean_messages,
    clean_text,
    conversation_key,
    fact_path,
    messages_of,
    time_ms,
    unit_path,
    units_of,
)
from clawmem.domain.documents.identity import document_without_file, is_forgotten
from clawmem.domain.documents.names import OWN_COLLECTION
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.security.injections import has_injection
from clawmem.domain.security.redaction import redact, redact_parts
from clawmem.domain.text.words import text_width
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import InvalidInput, ModelAnswerInvalid, ModelError
from clawmem.ports.imports import ConversationExports, FileFinished, ImportedConversation, ReadFault
from clawmem.ports.journal import ForgottenTexts
from clawmem.ports.knowledge import RelationStore
from clawmem.ports.records import Document, InactiveReason, Origin, Scope, SourceFile
from clawmem.ports.sessions import CaptureStore, Cursor
from clawmem.ports.storage import Transactions

MOST_ASKED = 20  # conversations in one run with a model
MOST_FAILURES = 3  # runs without a usable answer, after which a conversation is skipped
Action = Callable[[], str]  # changes the vault, and returns the name of the counter to raise, or nothing


@dataclass(slots=True)
class SourceCounts:
    """
    Counts of one source: conversations and messages read, and documents that were added, updated, removed or unchanged.

    Memories, instructions and documents of projects are no conversations.
    """

    conversations: int = 0
    messages: int = 0
    added: int = 0
    updated: int = 0
    removed: int = 0
    unchanged: int = 0
    too_short: int = 0
    forgotten: int = 0


@dataclass(slots=True)
class SynthesisReport:
    """
    Counters of one run. ``stopped`` is the reason why a run with a model ended early; empty if it did not.

    ``factsSaved`` counts facts that were added or changed, ``llmFailures`` conversations without a usable answer.
    ``docsSkipped`` had none in three runs, and are read again when they change; ``docsWaiting`` are left to the next
    runs. The links of all memories are counted:
    the title of an unresolved one is that of no other memory, or of several.
    """

    docsScanned: int = 0  # noqa: N815  the names of the published counters
    factsExtracted: int = 0  # noqa: N815
    factsSaved: int = 0  # noqa: N815
    linksResolved: int = 0  # noqa: N815
    linksUnresolved: int = 0  # noqa: N815
    llmFailures: int = 0  # noqa: N815
    docsWithNoFacts: int = 0  # noqa: N815
    docsSkipped: int = 0  # noqa: N815
    docsWaiting: int = 0  # noqa: N815
    stopped: str = ""


@dataclass(slots=True)
class MiningReport:
    """
    Results of one import.

    ``files`` were read, ``skipped`` files are unchanged since the last import. ``foreign`` files hold no conversation;
    ``faults`` are sentences about files that were not read, or not completely; ``remarks`` are about the indexes. It
    ``is_partial`` if a path of the request could not be read.
    """

    files: int = 0
    skipped: int = 0
    sources: dict[str, SourceCounts] = field(default_factory=dict)
    foreign: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    dry_run: bool = False
    is_partial: bool = False
    synthesis: SynthesisReport | None = None
    embed: EmbedReport | None = None
    remarks: list[str] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """
        Return 1 where no conversation or not every path of the request could be read, or a model failed.

        A file in a folder or a ZIP file that cannot be read is reported and does not change the code.
        """
        is_empty = not (self.sources or self.skipped)
        failed = (self.synthesis and self.synthesis.llmFailures) or (self.embed and not self.embed.is_whole)
        return int(bool(is_empty or self.is_partial or failed))


class MiningOptions(NamedTuple):
    """Options of an import: ``since_ms`` leaves out earlier exchanges; a ``dry_run`` changes nothing."""

    collection: str
    source: str = ""
    since_ms: int | None = None
    dry_run: bool = False


class _RolledBack(Exception):
    """The end of a transaction of a dry run."""


@dataclass(frozen=True, slots=True)
class MineConversations:
    """
    Imports conversations from files into a collection.

    A document is identified by source, conversation and number, and compared by the digest of its messages. Documents
    are committed in short transactions, followed by the position of their conversation, then by that of their file, so
    that an interrupted import keeps its work and the next one continues. Secrets are redacted before anything is
    stored. A forgotten document stays forgotten.
    """

    documents: DocumentStore
    captures: CaptureStore
    forgotten_texts: ForgottenTexts
    transactions: Transactions
    publisher: Publisher
    clock: Clock
    exports: ConversationExports

    def __call__(
        self, paths: Sequence[str], options: MiningOptions, progress: Progress = lambda done, total: None
    ) -> MiningReport:
        """
        Import new and changed conversations below *paths*.

        Raises:
            SourceUnreadable: none of *paths* can be read.
            VaultError: earlier commits are kept.
        """
        run = _Import(self, options)
        every, faults = self.exports.files(paths)
        changed = [file for file in every if not run.has_file(file)]
        run.report.skipped = len(every) - len(changed)
        run.report.is_partial = any(fault.file in map(abspath, paths) for fault in faults)
        total, done = sum(file.stamp.size for file in changed), 0
        for part in chain(faults, self.exports.read(changed, every)):
            match part:
                case ImportedConversation():
                    run.take(part)
                case ReadFault(file, reason, is_foreign):
                    if is_foreign:
                        run.report.foreign.append(file)
                    elif len(run.report.faults) < 1_000:
                        run.report.faults.append(f"{file}: {reason}.")
                case _:
                    run.finish(part)
                    done += part.file.stamp.size
            progress(done, total)
        if short := sum(counts.too_short for counts in run.report.sources.values()):
            run.report.remarks.append(f"Exchanges of less than {MIN_UNIT} characters, left out: {short}.")
        if not any(counts.added or counts.updated for counts in run.report.sources.values()):
            known = self.documents.sources(options.collection).values()
            if forgotten := sum(map(is_forgotten, known)):
                run.report.remarks.append(f"Forgotten documents, which no import brings back: {forgotten}.")
        return run.report


class _Import:
    """
    One import: its report, and the conversations that it stored.

    The positions of an import are cursors of its reader: that of a file holds its size and time, that of a conversation
    its number of units, their digest, and its version in milliseconds.
    """

    def __init__(self, stores: MineConversations, options: MiningOptions) -> None:
        self.report = MiningReport(dry_run=options.dry_run)
        self._stores = stores
        self._options = options
        self._now_ms = stores.clock.now_ms()
        self._reader = f"mine {options.collection}"
        self._taken: dict[str, Cursor] = {}  # a dry run stores none, and files may share a conversation

    def has_file(self, file: SourceFile) -> bool:
        """Whether the file was imported in this state before."""
        key, state = self._position(file)
        return self._stores.captures.cursor(key, self._reader) == state

    def finish(self, part: FileFinished) -> None:
        """Record that a file was imported, unless it has no conversation or earlier exchanges were left out."""
        self.report.files += bool(part.source)
        if part.source and self._options.since_ms is None and not self._options.dry_run:
            with self._stores.transactions.writing():
                self._put(*self._position(part.file))

    def take(self, conversation: ImportedConversation) -> None:
        """Store the new and changed documents of a conversation. An older copy changes nothing."""
        messages = list(clean_messages(conversation.messages, conversation.started, now_ms=self._now_ms))
        if not messages:
            return
        source = self._options.source or conversation.source
        texts = (conversation.title, *conversation.labels.values())
        title, *labels = redact_parts([clean_text(text) for text in texts])
        named = dict(zip(conversation.labels, labels, strict=True))
        if root := project_of(named.get("project", "")):
            named["project"] = root
        conversation = conversation._replace(source=source, title=title, labels=named)
        counts = self.report.sources.setdefault(source, SourceCounts())
        if (conversation.content_type or CONVERSATION) == CONVERSATION:
            counts.conversations += 1
            counts.messages += len(messages)
        key = conversation_key(source, conversation.id)
        units_before, digest_before, version_before = self._taken.get(key) or self._stores.captures.cursor(
            key, self._reader
        )
        units = list(units_of(messages))
        parts = [title, *(unit.digest for unit in units), str(self._options.since_ms or "")]
        digest = sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
        last_ms = max((message.at_ms for message in messages if message.is_timed), default=0)
        version = time_ms(conversation.updated, self._now_ms) or last_ms
        # 15 digits fit into an integer of the vault
        state = Cursor(len(units), int(digest[:15], 16), version)
        paths = [unit_path(key, number) for number in range(1, max(len(units), units_before) + 1)]
        if state.offset == digest_before or (version, len(units)) < (version_before, units_before):
            forgotten = sum(is_forgotten(self._at(path)) for path in paths[: len(units)])
            counts.forgotten += forgotten
            counts.unchanged += len(units) - forgotten
            return
        self._taken[key] = state
        actions: list[Action] = [
            *self._changes(conversation, paths, units, counts),
            *(partial(self._remove, path) for path in paths[len(units) :]),
            partial(self._put, key, state),
        ]
        transactions, outcomes = self._stores.transactions, list[str]()
        if self._options.dry_run:
            with suppress(_RolledBack), transactions.writing():
                outcomes = [action() for action in actions]
                raise _RolledBack
        else:
            outcomes += apply_in_chunks(transactions, actions, lambda action: action())
        for outcome in filter(None, outcomes):
            setattr(counts, outcome, getattr(counts, outcome) + 1)

    def _at(self, path: str) -> Document | None:
        return self._stores.documents.at(self._options.collection, path)

    def _position(self, file: SourceFile) -> tuple[str, Cursor]:
        """Return the key and the state of a file; one without bytes differs from one that was never read."""
        key = f"{self._options.source}:{file.path}" if self._options.source else file.path
        return key, Cursor(1, file.stamp.size, file.stamp.mtime_ns)

    def _changes(
        self,
        conversation: ImportedConversation,
        paths: Sequence[str],
        units: Sequence[Unit],
        counts: SourceCounts,
    ) -> Iterator[Action]:
        """Yield actions for the units that differ from their documents; a short one is removed, others are counted."""
        since, least = self._options.since_ms or 0, 1 if conversation.content_type else MIN_UNIT
        before = ""  # a secret may follow in the message after the one that announces it
        for number, (path, unit) in enumerate(zip(paths, units, strict=False), start=1):
            known = self._at(path)
            is_served = known is not None and known.inactive is not InactiveReason.REMOVED
            if unit.messages[-1].at_ms < since:
                pass
            elif is_forgotten(known):
                counts.forgotten += 1
            elif known and is_served and known.source_hash == unit.digest:
                counts.unchanged += 1
            elif sum(text_width(message.text) for message in unit.messages) < least:
                counts.too_short += 1
                yield partial(self._remove, path)
            else:
                texts = redact_parts([before, *(message.text for message in unit.messages)])[1:]
                yield partial(self._save, conversation, path, number, unit, texts)
            before = unit.messages[-1].text

    def _put(self, key: str, cursor: Cursor) -> str:
        self._stores.captures.advance(key, self._reader, cursor)
        return ""

    def _save(
        self, conversation: ImportedConversation, path: str, number: int, unit: Unit, texts: Sequence[str]
    ) -> str:
        documents, publisher = self._stores.documents, self._stores.publisher
        place, now = (self._options.collection, path), iso_utc(self._now_ms)
        known = self._at(path)
        document, body = unit_document(conversation, place, number, unit, texts, now)
        if is_forgotten_text(documents, self._stores.forgotten_texts, body):
            if known is None:  # as `ForgottenPlaces.agree`, so that later imports know it as forgotten
                empty = document_without_file(*place, "", "", document.authored_at, now)
                publisher.withdraw([documents.save(empty, "", ())], InactiveReason.FORGOTTEN)
            return "forgotten"
        pieces = unit_fragments(conversation, document, body)
        declared = Declarations(properties=unit_properties(conversation, unit))
        publisher.publish(document, body, pieces, declared)
        return "updated" if known and known.inactive is None else "added"

    def _remove(self, path: str) -> str:
        known = self._at(path)
        if not known or known.inactive is not None:
            return ""
        self._stores.publisher.withdraw([known.id], InactiveReason.REMOVED)
        return "removed"


@dataclass(frozen=True, slots=True)
class SynthesizeFacts:
    """
    Draws memories from the conversations of a collection, oldest first; each version of a conversation is read once.

    With a model it asks for observations, within the daily limit; without one, cue words mark them. The import is not
    affected.
    """

    documents: DocumentStore
    captures: CaptureStore
    relations: RelationStore
    transactions: Transactions
    memories: Memories
    clock: Clock
    ask: Ask | None = None

    def __call__(
        self, collection: str, most: int = MOST_ASKED, progress: Progress = lambda done, total: None
    ) -> SynthesisReport:
        """
        Read up to *most* conversations with a model, or all by rules, and return the counters.

        Raises:
            VaultError: facts stored before it persist.
        """
        report = SynthesisReport()
        reader = f"{WRITER} {self.ask.model if self.ask else 'rules'}"
        waiting: list[tuple[int, Document]] = []  # with the number of runs that failed
        for document in self.documents.latest(Scope(frozenset({collection}))):
            if document.content_type == CONVERSATION and document.origin is Origin.IMPORTED:
                position = self.captures.cursor(document.display_path, reader)
                is_known = position.offset == int(document.hash[:15], 16)
                failures = position.turns if is_known else 0
                report.docsSkipped += failures >= MOST_FAILURES
                if not is_known or 0 < failures < MOST_FAILURES:
                    waiting.append((failures, document))
        waiting.sort(key=lambda entry: (entry[0], entry[1].authored_at, entry[1].id))
        report.docsWaiting = len(waiting)
        waiting = waiting[:most] if self.ask else waiting
        for done, (failures, document) in enumerate(waiting, start=1):
            notes, links, version = None, dict[str, list[str]](), int(document.hash[:15], 16)
            try:
                notes, links = self._notes(document)
            except ModelAnswerInvalid:
                pass  # it failed on this conversation, which may be too long
            except DailyLimitReached as error:
                report.stopped = str(error)
                break
            except ModelError as error:
                report.llmFailures += 1
                report.stopped = str(error)
                with self.transactions.writing():  # the next run asks about it last; this alone skips none
                    position = Cursor(1, version, min(failures + 1, MOST_FAILURES - 1))
                    self.captures.advance(document.display_path, reader, position)
                break
            report.docsScanned += 1
            report.docsWaiting -= 1
            report.llmFailures += notes is None
            report.factsExtracted += len(notes or ())
            report.docsWithNoFacts += notes == []
            with self.transactions.writing():
                if notes is not None:
                    notes = self._withdraw_outdated(document, notes)
                for note in notes or ():
                    with suppress(InvalidInput):  # it was forgotten
                        report.factsSaved += self._save(note, links.get(note.title, []), document)
                position = Cursor(1, version, failures + 1 if notes is None else 0)
                self.captures.advance(document.display_path, reader, position)
            progress(done, len(waiting))
        self._relate(report)
        return report

    def _notes(self, document: Document) -> tuple[list[Note] | None, dict[str, list[str]]]:
        """
        Return the statements of a conversation that are worth a memory, and the lines of their links by title.

        The statements are ``None`` without a usable answer.
        """
        body = self.documents.body(document.id) or ""
        messages = messages_of(body, document.authored_at)
        if self.ask is None:
            return memory_notes(notes_by_rules(messages)), {}
        if has_injection(body):  # not shown to a model
            return [], {}
        answer = self.ask(TASK, synthesis_prompt(body))
        if answer is None:
            return None, {}
        return memory_notes(read_notes(answer, messages)), read_links(answer)

    def _save(self, note: Note, links: list[str], document: Document) -> bool:
        path = fact_path(note.title, document.id)
        body = redact("\n\n".join([note_body(note).rstrip(), *links]) + "\n")
        known = self.documents.at(OWN_COLLECTION, path)
        is_same = known and (known.inactive or self.documents.body(known.id) == body)
        if known and known.inactive is not InactiveReason.REMOVED and is_same:
            return False
        self.memories.write(
            path,
            redact(note.title),
            body,
            note.kind.value,
            CONFIDENCE,
            document.authored_at,
            tags=(WRITER,),
            sources=[document],
            origin=Origin.MODEL if self.ask else Origin.ASSISTANT,
            properties=[(SAID, f"{document.display_path} on {document.authored_at[:10]}")],
        )
        return True

    def _withdraw_outdated(self, document: Document, notes: list[Note]) -> list[Note]:
        """
        Stop serving memories that quote what *document* no longer says, and return the *notes* to save.

        Of two memories with one quote and two titles, that of a model is served.
        """
        text, by_quote = flat(self.documents.body(document.id) or ""), dict[str, Document]()
        children = self.documents.many(self.memories.derivations.children(document.id)).values()
        drawn = {note.id: note for note in children if WRITER in note.tags and not note.inactive}
        for number, body in self.documents.bodies(drawn).items():
            by_quote[flat(body.rpartition("\n> ")[2].partition("\n")[0])] = drawn[number]
        outdated = [memory.id for quote, memory in by_quote.items() if quote not in text]
        served = list[Note]()
        for note in notes:
            memory = by_quote.get(flat(note.quote))
            is_other = memory and memory.path != fact_path(note.title, document.id)
            outdated += [memory.id] if memory and is_other and self.ask else []
            served += [note] if self.ask or not is_other else []
        self.memories.publisher.withdraw(outdated, InactiveReason.REMOVED)
        return served

    def _relate(self, report: SynthesisReport) -> None:
        """Relate the memories that name each other, where exactly one has the title; a later run resolves the rest."""
        written = self.documents.latest(Scope(frozenset({OWN_COLLECTION})))
        drawn = [document for document in written if WRITER in document.tags]
        texts = [(document, self.documents.body(document.id) or "") for document in drawn]
        edges, report.linksUnresolved = memory_relations(texts, iso_utc(self.clock.now_ms()))
        report.linksResolved = len(edges)
        for kind in LINK_KINDS:
            of_kind = [edge for edge in edges if edge.kind is kind]
            self.relations.renew(kind, WRITER, [document.id for document in drawn], of_kind)
