"""Import of conversations: exchanges become documents, and a second import adds and changes only new exchanges."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import islice
from typing import NamedTuple

from clawmem.app.services.conversations.sources import ImportPositions, digest_number
from clawmem.app.services.indexing.moves import is_forgotten_text
from clawmem.app.services.indexing.publish import Declarations, Publisher, apply_in_chunks
from clawmem.app.services.progress import Progress
from clawmem.domain.conversations.messages import clean_messages, clean_text, time_ms
from clawmem.domain.conversations.places import CONVERSATION, conversation_key, source_of_path, unit_path
from clawmem.domain.conversations.units import MIN_TALK, MIN_UNIT, Unit, quoted_message, unit_body, unit_title
from clawmem.domain.conversations.versions import ConversationState, numbered_units, version_of
from clawmem.domain.documents.fragments import fragment
from clawmem.domain.documents.identity import body_hash, document_without_file
from clawmem.domain.documents.markdown import Markdown
from clawmem.domain.documents.properties import MAX_VALUE, property_key
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.retrieval.confidence import baseline
from clawmem.domain.security.origin import as_tag
from clawmem.domain.security.redaction import redact_parts
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore, Property, PropertyStore
from clawmem.ports.imports import ConversationExports, FileFinished, ImportedConversation, ReadFault
from clawmem.ports.journal import ForgottenTexts
from clawmem.ports.records import Document, InactiveReason, Origin, Scope
from clawmem.ports.sessions import CaptureStore
from clawmem.ports.storage import Transactions

REDACTED_TOGETHER = 12_000  # characters; a secret may follow in the message after the one that announces it
CHUNK_S = 0.035  # of a transaction, which takes less than 50 ms with its commit
MOST_FAULTS = 1_000  # sentences of a report

Action = Callable[[], str]  # changes the vault, and returns the name of the counter to raise, or nothing


@dataclass(slots=True)
class SourceCounts:
    """
    Counts of one source: conversations and messages read, and documents that were added, updated, removed or unchanged.

    Memories, instructions and documents of projects are no conversations.

    ``earlier`` conversations end before the first day of the import, and ``repeated`` ones are in the collection under the
    name of another source already.
    """

    conversations: int = 0
    messages: int = 0
    added: int = 0
    updated: int = 0
    removed: int = 0
    unchanged: int = 0
    too_short: int = 0
    forgotten: int = 0
    earlier: int = 0
    repeated: int = 0


@dataclass(slots=True)
class MiningReport:
    """
    Results of one import.

    ``files`` were read, ``skipped`` files are unchanged since the last import. ``foreign`` files hold no conversation;
    ``faults`` are sentences about files that were not read, or not completely.
    """

    files: int = 0
    skipped: int = 0
    sources: dict[str, SourceCounts] = field(default_factory=dict)
    foreign: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


class MiningInterrupted(KeyboardInterrupt):
    """An interrupt during an import; ``report`` counts the committed documents."""

    def __init__(self, report: MiningReport) -> None:
        super().__init__("the import was interrupted")
        self.report = report


class MiningOptions(NamedTuple):
    """Options of an import: ``since_ms`` leaves out earlier exchanges; a ``dry_run`` changes nothing."""

    collection: str
    source: str = ""
    since_ms: int | None = None
    dry_run: bool = False


class _RolledBack(Exception):
    """The end of a transaction of a dry run."""


class _Change(NamedTuple):
    """A unit to store: its number, path and earlier document, and the unit before, which it may continue."""

    unit: Unit
    number: int
    path: str
    known: Document | None
    before: Unit | None = None

    @property
    def begins(self) -> str:
        """The last message before the unit as a quotation, without secrets, if the unit continues a short talk."""
        if self.before is None or self.before.length >= MIN_TALK:
            return ""
        last = self.before.messages[-1]
        return quoted_message(last, redact_parts([message.text for message in self.before.messages])[-1])


@dataclass(frozen=True)
class ImportStores:
    """Stores and ports that an import of conversations reads and changes."""

    documents: DocumentStore
    properties: PropertyStore
    captures: CaptureStore
    forgotten_texts: ForgottenTexts
    transactions: Transactions
    publisher: Publisher


class MineConversations:
    """
    Imports conversations from files into a collection.

    A document is identified by source, conversation and number, and compared by the digest of its messages. Documents
    are committed in short transactions, followed by the position of their conversation, then by that of their file, so
    that an interrupted import keeps its work and the next one continues. Secrets are redacted before anything is
    stored. A forgotten document stays forgotten.
    """

    def __init__(self, stores: ImportStores, clock: Clock, exports: ConversationExports) -> None:
        self._stores = stores
        self._clock = clock
        self._exports = exports

    def __call__(
        self, paths: Sequence[str], options: MiningOptions, progress: Progress = lambda done, total: None
    ) -> MiningReport:
        """
        Import new and changed conversations below *paths*.

        Raises:
            SourceUnreadable: none of *paths* can be read.
            MiningInterrupted: Ctrl-C; the next import continues.
            VaultError: earlier commits are kept.
        """
        run = _Import(self._stores, self._clock.now_ms(), options)
        try:
            every, faults = self._exports.files(paths)
            for fault in faults:
                run.complain(fault)
            changed = [file for file in every if not run.positions.has_file(file, options.source)]
            run.report.skipped = len(every) - len(changed)
            total, done = sum(file.stamp.size for file in changed), 0
            for part in self._exports.read(changed, every):
                if isinstance(part, ImportedConversation):
                    run.take(part)
                elif isinstance(part, ReadFault):
                    run.complain(part)
                else:
                    run.finish(part)
                    done += part.file.stamp.size
                progress(done, total)
        except KeyboardInterrupt as error:
            raise MiningInterrupted(run.report) from error
        return run.report


class _Import:
    """One import: its report, and the conversations that it stored."""

    def __init__(self, stores: ImportStores, now_ms: int, options: MiningOptions) -> None:
        self.report = MiningReport()
        self.positions = ImportPositions(stores.captures, options.collection)
        self._stores = stores
        self._options = options
        self._now_ms = now_ms
        self._taken: dict[
            str, ConversationState
        ] = {}  # a dry run stores none, and files may share a conversation

    def take(self, conversation: ImportedConversation) -> None:
        """Store the new and changed documents of a conversation."""
        messages = list(clean_messages(conversation.messages, conversation.started, now_ms=self._now_ms))
        if not messages:
            return
        source = self._options.source or self._source_before(conversation, iso_utc(messages[0].at_ms))
        conversation = _without_secrets(conversation)
        counts = self.report.sources.setdefault(source, SourceCounts())
        key = conversation_key(source, conversation.id)
        stored = self._taken.get(key) or self.positions.conversation(key)
        is_repeated = (
            bool(self._options.source) and not stored.units and any(self._elsewhere(source, conversation.id))
        )
        forgotten = self.positions.forgotten(key)
        first = forgotten[-1].units + 1 if forgotten else 1
        actions: list[Action] = []
        if any(self._is_forgotten(key, number) for number in range(first, stored.units + 1)):
            actions.append(partial(self._put_forgotten, key, len(forgotten), stored))
            forgotten = [*forgotten, stored]
        units = numbered_units(messages, forgotten)
        version = version_of(time_ms(conversation.updated, self._now_ms), messages)
        digests = (unit.digest for unit in units.values())
        digest = digest_number(_digest([conversation.title, *digests, str(self._options.since_ms or "")]))
        state = ConversationState(max(units, default=0), digest, version)
        if stored.digest == state.digest or stored.is_newer_than(state.units, version):
            gone = sum(self._is_forgotten(key, number) for number in units)
            counts.forgotten += gone
            counts.unchanged += len(units) - gone
        else:
            self._taken[key] = state
            actions += self._changes(conversation, source, key, units, counts)
            removed = set(range(1, stored.units + 1)).difference(units)
            actions += (partial(self._remove, unit_path(key, number)) for number in sorted(removed))
            actions.append(partial(self._put_conversation, key, state))
            for outcome in filter(None, self._committed(actions)):
                setattr(counts, outcome, getattr(counts, outcome) + 1)
        if (conversation.content_type or CONVERSATION) == CONVERSATION:
            counts.conversations += 1
            counts.messages += len(messages)
        if messages[-1].at_ms < (self._options.since_ms or 0):
            counts.earlier += 1
        elif is_repeated:
            counts.repeated += 1

    def complain(self, fault: ReadFault) -> None:
        """Report a fault."""
        if fault.is_foreign:
            self.report.foreign.append(fault.file)
        elif len(self.report.faults) < MOST_FAULTS:
            self.report.faults.append(f"{fault.file}: {fault.reason}.")

    def finish(self, part: FileFinished) -> None:
        """Record that a file was imported, unless earlier exchanges of it were left out."""
        self.report.files += bool(part.source)
        if self._options.since_ms is None and not self._options.dry_run:
            with self._stores.transactions.writing():
                self.positions.put_file(part.file, self._options.source)

    def _committed(self, actions: Sequence[Action]) -> Iterator[str]:
        """Yield the outcomes of *actions* after their transactions; a dry run rolls its transaction back."""
        if not self._options.dry_run:
            yield from apply_in_chunks(
                self._stores.transactions, actions, lambda action: action(), chunk_s=CHUNK_S
            )
            return
        outcomes: list[str] = []
        with suppress(_RolledBack), self._stores.transactions.writing():
            outcomes = [action() for action in actions]
            raise _RolledBack
        yield from outcomes

    # -- what is known ------------------------------------------------------------------------------

    def _source_before(self, conversation: ImportedConversation, began: str) -> str:
        """Return the name under which a conversation that *began* then was imported before; that of its format otherwise."""
        own = conversation_key(conversation.source, conversation.id)
        if own in self._taken or self.positions.conversation(own).units:
            return conversation.source
        others = self._elsewhere(conversation.source, conversation.id)
        return next(
            (source_of_path(note.path) for note in others if note.authored_at == began), conversation.source
        )

    def _elsewhere(self, source: str, id: str) -> Iterator[Document]:
        """Yield the first documents of conversations with this *id* that are served under the names of other sources."""
        for name in sorted(self._sources - {source}):
            path = unit_path(conversation_key(name, id), 1)
            document = self._stores.documents.at(self._options.collection, path)
            if document and document.inactive is None:
                yield document

    @cached_property
    def _sources(self) -> frozenset[str]:
        """The names of sources in the collection before the first conversation is stored."""
        scope = Scope(collections=frozenset({self._options.collection}))
        return frozenset(self._stores.properties.values("source", scope))

    def _is_forgotten(self, key: str, number: int) -> bool:
        known = self._stores.documents.at(self._options.collection, unit_path(key, number))
        return known is not None and known.inactive is InactiveReason.FORGOTTEN

    def _changes(
        self,
        conversation: ImportedConversation,
        source: str,
        key: str,
        units: Mapping[int, Unit],
        counts: SourceCounts,
    ) -> Iterator[Action]:
        """Yield actions for the units that differ from their documents; a short one is removed, others are counted."""
        since, least = self._options.since_ms, 1 if conversation.content_type else MIN_UNIT
        changes: list[_Change] = []
        for number, unit in units.items():
            path = unit_path(key, number)
            if since is not None and unit.messages[-1].at_ms < since:
                continue
            known = self._stores.documents.at(self._options.collection, path)
            if known and known.inactive is InactiveReason.FORGOTTEN:
                counts.forgotten += 1
            elif known and known.inactive is not InactiveReason.REMOVED and known.source_hash == unit.digest:
                counts.unchanged += 1
            elif unit.length < least:
                counts.too_short += 1
                if known:
                    yield partial(self._remove, path)
            else:
                before = None if self._is_forgotten(key, number - 1) else units.get(number - 1)
                changes.append(_Change(unit, number, path, known, before))
        for batch in _batches(changes):
            texts = iter(redact_parts([message.text for change in batch for message in change.unit.messages]))
            for change in batch:
                yield partial(
                    self._save, conversation, source, change, [*islice(texts, len(change.unit.messages))]
                )

    # -- actions, inside transactions ---------------------------------------------------------------

    def _put_forgotten(self, key: str, number: int, state: ConversationState) -> str:
        self.positions.put_forgotten(key, number, state)
        return ""

    def _put_conversation(self, key: str, state: ConversationState) -> str:
        self.positions.put_conversation(key, state)
        return ""

    def _save(
        self,
        conversation: ImportedConversation,
        source: str,
        change: _Change,
        texts: Sequence[str],
    ) -> str:
        unit = change.unit
        content_type = conversation.content_type or CONVERSATION
        is_talk = content_type == CONVERSATION
        speakers, times = (
            [message.speaker for message in unit.messages],
            [message.at_ms for message in unit.messages],
        )
        body = change.begins + unit_body(speakers, texts, times) if is_talk else f"{texts[0]}\n"
        if is_forgotten_text(self._stores.documents, self._stores.forgotten_texts, body):
            if change.known is None:  # as `ForgottenPlaces.agree`, so that later imports know it as forgotten
                at, now = iso_utc(unit.at_ms), iso_utc(self._now_ms)
                empty = document_without_file(self._options.collection, change.path, "", "", at, now)
                number = self._stores.documents.save(empty, "", ())
                self._stores.publisher.withdraw([number], InactiveReason.FORGOTTEN)
            return "forgotten"
        title = unit_title(conversation.title, change.number, texts[0]) if is_talk else conversation.title
        now, at = iso_utc(self._now_ms), iso_utc(unit.at_ms)
        document = Document(
            self._options.collection,
            change.path,
            title or conversation.title,
            body_hash(body),
            unit.digest,
            authored_at=at,
            modified_at=at,
            indexed_at=now,
            content_type=content_type,
            confidence=baseline(content_type),
            tags=(as_tag(Origin.IMPORTED),),
            origin=Origin.IMPORTED,
            body_length=len(body),
        )
        about = " ".join(filter(None, (conversation.title, *(value for _, value in conversation.labels))))
        declared = Declarations(properties=list(_properties(conversation, source, unit)))
        pieces = fragment(Markdown(body), title=document.title, date=at[:10], about=about)
        self._stores.publisher.publish(document, body, pieces, declared)
        return "updated" if change.known and change.known.inactive is None else "added"

    def _remove(self, path: str) -> str:
        known = self._stores.documents.at(self._options.collection, path)
        if not known or known.inactive is not None:
            return ""
        self._stores.publisher.withdraw([known.id], InactiveReason.REMOVED)
        return "removed"


def _properties(said: ImportedConversation, source: str, unit: Unit) -> Iterator[Property]:
    values = [
        ("source", source),
        ("conversation", said.title),
        ("conversation-id", said.id[:100]),
        ("message-id", unit.messages[0].id),
        *(("speaker", name) for name in unit.speakers),
        *said.labels,
    ]
    for name, value in values:
        if flat := " ".join(value.split())[:MAX_VALUE]:
            yield Property(name, flat, property_key(flat))


def _without_secrets(said: ImportedConversation) -> ImportedConversation:
    """Return *said* with its title and labels redacted; its messages are redacted when they are saved."""
    title, *values = redact_parts([clean_text(text) for text in (said.title, *(v for _, v in said.labels))])
    names = (name for name, _ in said.labels)
    return said._replace(title=title, labels=tuple(zip(names, values, strict=True)))


def _batches(changes: Sequence[_Change]) -> Iterator[list[_Change]]:
    """Yield the changes in groups whose messages are redacted together."""
    batch: list[_Change] = []
    length = 0
    for change in changes:
        if batch and length + change.unit.length > REDACTED_TOGETHER:
            yield batch
            batch, length = [], 0
        batch.append(change)
        length += change.unit.length
    if batch:
        yield batch


def _digest(parts: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
