"""Import of conversations: exchanges become documents, and a second import adds and changes only new exchanges."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

from clawmem.app.services.conversations.mining_report import (
    MiningInterrupted,
    MiningOptions,
    MiningReport,
    SourceCounts,
)
from clawmem.app.services.conversations.positions import ImportPositions, digest_number
from clawmem.app.services.indexing.moves import is_forgotten_text
from clawmem.app.services.indexing.publish import Declarations, Publisher, apply_in_chunks
from clawmem.app.services.progress import Progress
from clawmem.domain.conversations.messages import clean_messages, clean_text, time_ms
from clawmem.domain.conversations.places import CONVERSATION, conversation_key, source_of_path, unit_path
from clawmem.domain.conversations.units import MIN_TALK, MIN_UNIT, Unit, quoted_message, unit_body, unit_title
from clawmem.domain.conversations.versions import ConversationState, numbered_units, version_of
from clawmem.domain.documents.fragments import fragment
from clawmem.domain.documents.identity import body_hash
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
from clawmem.ports.records import Document, InactiveReason, Origin, Scope, SourceFile
from clawmem.ports.sessions import CaptureStore
from clawmem.ports.storage import Transactions

BATCH_CHARACTERS, BATCH_UNITS = 400_000, 500  # prepared before a commit, which an interrupted import repeats
REDACTED_TOGETHER = 12_000  # characters; a secret may follow in the message after the one that announces it
CHUNK_S = 0.035  # of a transaction, which takes less than 50 ms with its commit
MOST_FAULTS = 1_000  # sentences of a report


class _Increment(NamedTuple):
    """The counter that a committed action raises."""

    counts: SourceCounts
    name: str
    number: int = 1


Action = Callable[[], _Increment | None]


class _RolledBack(Exception):
    """The end of a transaction of a dry run."""


class _Prepared(NamedTuple):
    """A unit with its number and path, the document that it replaces, and the talk of an earlier day that it continues."""

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
        run = _Run(self._stores, self._clock, options)
        try:
            self._run(run, paths, progress)
        except KeyboardInterrupt as error:
            run.commit()  # prepared documents take less than a second
            raise MiningInterrupted(run.report) from error
        return run.report

    def _run(self, run: _Run, paths: Sequence[str], progress: Progress) -> None:
        every, faults = self._exports.files(paths)
        for fault in faults:
            run.complain(fault)
        changed = [file for file in every if not run.has_file(file)]
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
        run.commit()


class _Run:
    """One import; collects prepared documents and commits them in batches."""

    def __init__(self, stores: ImportStores, clock: Clock, options: MiningOptions) -> None:
        self.report = MiningReport()
        self.positions = ImportPositions(stores.captures, options.collection)
        self._stores = stores
        self._options = options
        self._now_ms = clock.now_ms()
        self._actions: list[tuple[Action, Sequence[_Increment]]] = []
        self._characters = 0
        self._fresh: dict[
            str, ConversationState
        ] = {}  # of this import; several files may hold a conversation

    def has_file(self, file: SourceFile) -> bool:
        """Whether the file was imported in this state, under the same name of the source."""
        return self.positions.has_file(file, self._options.source)

    def take(self, said: ImportedConversation) -> None:
        """Prepare the new and changed documents of a conversation."""
        messages = list(clean_messages(said.messages, said.started, now_ms=self._now_ms))
        if not messages:
            return
        source = self._options.source or self._source_before(said, iso_utc(messages[0].at_ms))
        said = _without_secrets(said)
        counts = self.report.sources.setdefault(source, SourceCounts())
        is_talk = (said.content_type or CONVERSATION) == CONVERSATION
        # Counted with the first document, so that an interrupted import counts the conversations that it stored.
        read: tuple[_Increment, ...] = (
            _Increment(counts, "conversations", is_talk),
            _Increment(counts, "messages", len(messages) * is_talk),
        )
        key = conversation_key(source, said.id)
        if key in self._fresh:
            self.commit()  # so that it is compared with what another file said
        stored = self._fresh.get(key) or self.positions.conversation(key)
        if messages[-1].at_ms < (self._options.since_ms or 0):
            read = (*read, _Increment(counts, "earlier"))
        elif self._options.source and not stored.units and any(self._elsewhere(source, said.id)):
            read = (*read, _Increment(counts, "repeated"))
        units = numbered_units(messages, self._forgotten(key, stored))
        version = version_of(time_ms(said.updated, self._now_ms), messages)
        digests = (one.digest for one in units.values())
        digest = digest_number(_digest([said.title, *digests, str(self._options.since_ms or "")]))
        state = ConversationState(max(units, default=0), digest, version)
        if stored.digest == state.digest or stored.is_newer_than(state.units, version):
            forgotten = sum(self._is_forgotten(key, number) for number in units)
            counts.forgotten += forgotten
            counts.unchanged += len(units) - forgotten
            self._add(_nothing, read=read)
            return
        self._fresh[key] = state
        least = 1 if said.content_type else MIN_UNIT
        for batch in _batches(self._changed(key, units, counts, least)):
            texts = redact_parts([message.text for one in batch for message in one.unit.messages])
            for one in batch:
                own, texts = texts[: len(one.unit.messages)], texts[len(one.unit.messages) :]
                self._add(partial(self._save, said, source, one, own, counts), one.unit.length, read)
                read = ()
        for number in set(range(1, stored.units + 1)).difference(units):
            self._add(partial(self._remove, unit_path(key, number), counts))
        self._add(partial(self.positions.put_conversation, key, state), read=read)

    def _forgotten(self, key: str, stored: ConversationState) -> list[ConversationState]:
        """Return the states of a conversation in which documents were forgotten; a new one is recorded."""
        before = self.positions.forgotten(key)
        first = before[-1].units + 1 if before else 1
        if not any(self._is_forgotten(key, number) for number in range(first, stored.units + 1)):
            return before
        self._add(partial(self.positions.put_forgotten, key, len(before), stored))
        return [*before, stored]

    def _source_before(self, said: ImportedConversation, began: str) -> str:
        """Return the name under which a conversation that *began* then was imported before; that of its format otherwise."""
        own = conversation_key(said.source, said.id)
        if own in self._fresh or self.positions.conversation(own).units:
            return said.source
        others = self._elsewhere(said.source, said.id)
        return next((source_of_path(one.path) for one in others if one.authored_at == began), said.source)

    def _elsewhere(self, source: str, id: str) -> Iterator[Document]:
        """Yield the first documents of conversations with this *id* that are served under the names of other sources."""
        for name in sorted(self._sources - {source}):
            path = unit_path(conversation_key(name, id), 1)
            found = self._stores.documents.at(self._options.collection, path)
            if found and found.inactive is None:
                yield found

    @cached_property
    def _sources(self) -> frozenset[str]:
        """The names of sources in the collection before the first conversation is stored."""
        scope = Scope(collections=frozenset({self._options.collection}))
        return frozenset(self._stores.properties.values("source", scope))

    def _is_forgotten(self, key: str, number: int) -> bool:
        known = self._stores.documents.at(self._options.collection, unit_path(key, number))
        return known is not None and known.inactive is InactiveReason.FORGOTTEN

    def complain(self, fault: ReadFault) -> None:
        """Report a fault."""
        if fault.is_foreign:
            self.report.foreign.append(fault.file)
        elif len(self.report.faults) < MOST_FAULTS:
            self.report.faults.append(f"{fault.file}: {fault.reason}.")

    def finish(self, part: FileFinished) -> None:
        """Record that a file was imported, unless earlier exchanges of it were left out."""
        self.report.files += bool(part.source)
        if self._options.since_ms is None:
            self._add(partial(self.positions.put_file, part.file, self._options.source))

    def commit(self) -> None:
        """Commit the prepared documents."""
        actions, self._actions, self._characters = self._actions, [], 0
        if not self._options.dry_run:
            for done in apply_in_chunks(self._stores.transactions, actions, _run_action, chunk_s=CHUNK_S):
                _count(done)
            return
        with suppress(_RolledBack), self._stores.transactions.writing():
            for action in actions:
                _count(_run_action(action))
            raise _RolledBack

    def _add(self, action: Action, characters: int = 0, read: Sequence[_Increment] = ()) -> None:
        """Prepare *action*, whose commit also raises the counters *read*."""
        self._actions.append((action, read))
        self._characters += characters
        if len(self._actions) >= BATCH_UNITS or self._characters >= BATCH_CHARACTERS:
            self.commit()

    def _changed(
        self, key: str, units: Mapping[int, Unit], counts: SourceCounts, least: int
    ) -> Iterator[_Prepared]:
        """Yield the units of at least *least* characters that differ from their documents."""
        since, collection = self._options.since_ms, self._options.collection
        for number, unit in units.items():
            path = unit_path(key, number)
            if since is not None and unit.messages[-1].at_ms < since:
                continue
            known = self._stores.documents.at(collection, path)
            if known and known.inactive is InactiveReason.FORGOTTEN:
                counts.forgotten += 1
            elif known and known.inactive is not InactiveReason.REMOVED and known.source_hash == unit.digest:
                counts.unchanged += 1
            elif unit.length < least:
                counts.too_short += 1
                if known:
                    self._add(partial(self._remove, path, counts))
            else:
                before = None if self._is_forgotten(key, number - 1) else units.get(number - 1)
                yield _Prepared(unit, number, path, known, before)

    # -- writing, inside transactions ---------------------------------------------------------------

    def _save(
        self,
        said: ImportedConversation,
        source: str,
        one: _Prepared,
        texts: Sequence[str],
        counts: SourceCounts,
    ) -> _Increment:
        unit = one.unit
        content_type = said.content_type or CONVERSATION
        is_talk = content_type == CONVERSATION
        speakers, times = [one.speaker for one in unit.messages], [one.at_ms for one in unit.messages]
        body = one.begins + unit_body(speakers, texts, times) if is_talk else f"{texts[0]}\n"
        if is_forgotten_text(self._stores.documents, self._stores.forgotten_texts, body_hash(body)):
            return _Increment(counts, "forgotten")
        title = unit_title(said.title, one.number, texts[0]) if is_talk else said.title
        now, at = iso_utc(self._now_ms), iso_utc(unit.at_ms)
        document = Document(
            self._options.collection,
            one.path,
            title or said.title,
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
        about = " ".join(filter(None, (said.title, *(value for _, value in said.labels))))
        declared = Declarations(properties=list(_properties(said, source, unit)))
        pieces = fragment(Markdown(body), title=document.title, date=at[:10], about=about)
        self._stores.publisher.publish(document, body, pieces, declared)
        return _Increment(counts, "updated" if one.known and one.known.inactive is None else "added")

    def _remove(self, path: str, counts: SourceCounts) -> _Increment | None:
        known = self._stores.documents.at(self._options.collection, path)
        if not known or known.inactive is not None:
            return None
        return _Increment(
            counts, "removed", self._stores.publisher.withdraw([known.id], InactiveReason.REMOVED)
        )


def _nothing() -> None:
    """Change nothing: the action of a conversation that is unchanged."""


def _run_action(prepared: tuple[Action, Sequence[_Increment]]) -> list[_Increment]:
    action, read = prepared
    return [*filter(None, [action()]), *read]


def _count(increments: Sequence[_Increment]) -> None:
    for one in increments:
        setattr(one.counts, one.name, getattr(one.counts, one.name) + one.number)


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


def _batches(units: Iterator[_Prepared]) -> Iterator[list[_Prepared]]:
    """Yield the units in groups whose messages are redacted together."""
    batch: list[_Prepared] = []
    length = 0
    for one in units:
        if batch and length + one.unit.length > REDACTED_TOGETHER:
            yield batch
            batch, length = [], 0
        batch.append(one)
        length += one.unit.length
    if batch:
        yield batch


def _digest(parts: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
