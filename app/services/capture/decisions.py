"""Decisions of conversations, and the earlier decisions that they replace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from clawmem.app.services.capture.memories import Memories, SavedMemory
from clawmem.app.services.capture.session import (
    DEADLINE_S,
    CursorConflict,
    IsEcho,
    Left,
    Session,
    SessionReader,
    UnreadMessages,
    model_answer,
)
from clawmem.app.services.indexing.publish import Publisher
from clawmem.app.services.knowledge.facts import Resolve
from clawmem.domain.capture import observations
from clawmem.domain.capture.contradiction import REVISABLE, Verdict, is_invalid, lowered, revises, verdict
from clawmem.domain.capture.cues import Kind
from clawmem.domain.capture.notes import COLLECTION, Note, notes_by_rules
from clawmem.domain.documents.times import iso_utc, parse_iso
from clawmem.domain.knowledge.triples import confidence_of
from clawmem.domain.maintenance.patterns import CONSOLIDATED
from clawmem.domain.retrieval.query_forms import query_forms
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore
from clawmem.ports.indexes import LexicalIndex
from clawmem.ports.knowledge import EntityStore, Relation, RelationKind, RelationStore
from clawmem.ports.models import Generator
from clawmem.ports.records import Document, Grain, InactiveReason, Scope
from clawmem.ports.sessions import CaptureStore, Transcripts
from clawmem.ports.storage import Transactions

READER = "decision-extractor"
JUDGED = frozenset({"decision", "observation"})


class Conflict(NamedTuple):
    """A new decision, the document of an earlier one, the verdict, and whether the session itself said both."""

    note: Note
    document: Document
    verdict: Verdict
    is_own: bool


@dataclass(frozen=True, slots=True)
class CaptureReport:
    """Documents that one call stored, those that were seen again, and those whose confidence was lowered."""

    stored: tuple[int, ...] = ()
    merged: tuple[int, ...] = ()
    lowered: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class DecisionExtractor:
    """
    Reads new parts of a transcript and stores relevant memories, each with the sentence it comes from.

    A generator is asked first; without one, or when it fails, rules are used.

    Args:
        is_echo: Whether a sentence repeats injected context; such sentences are not captured.
        left: Returns the seconds left; after them, rules are used.
    """

    captures: CaptureStore
    documents: DocumentStore
    lexical: LexicalIndex
    relations: RelationStore
    entities: EntityStore
    transactions: Transactions
    publisher: Publisher
    memories: Memories
    transcripts: Transcripts
    clock: Clock
    generator: Generator | None = None
    is_echo: IsEcho = lambda sentence: False
    left: Left = lambda: DEADLINE_S

    def __call__(self, session: Session) -> CaptureReport:
        """
        Store memories from the new part of *session*.

        Raises:
            InvalidInput, SourceUnreadable: the transcript cannot be read.
            VaultError: nothing was stored; the next call processes the same part again.
        """
        reader = SessionReader(self.captures, self.transcripts, READER)
        news = reader.news(session)
        if news is None:
            return CaptureReport()
        notes = [
            replace(
                note,
                narrative="" if self.is_echo(note.narrative) else note.narrative,
                facts=tuple(fact for fact in note.facts if not self.is_echo(fact)),
            )
            for note in self._notes(news)
            if not self.is_echo(note.quote)
        ]
        generator = self.generator if any(note.is_by_model for note in notes) else None
        conflicts = [*self._conflicts(notes, session.id, generator)]
        causes: list[observations.Cause] = []
        facts = [observations.Fact(note, text) for note in notes for text in note.facts]
        if generator and len(facts) >= 2:
            prompt = observations.causes_prompt(facts)
            value = model_answer(generator, self.left, observations.CAUSES, prompt)
            causes = observations.read_causes(value, facts)
        try:
            with self.transactions.writing():
                reader.finish(session, news)
                return self._store(notes, conflicts, causes, session)
        except CursorConflict:
            return CaptureReport()

    # -- reading ------------------------------------------------------------------------------------

    def _notes(self, news: UnreadMessages) -> list[Note]:
        """Return the notes of a model with the failures that it left out, or those of rules if it noted nothing."""
        by_rules = [note for note in notes_by_rules(news.part.messages) if note.message.line > news.seen.line]
        if self.generator is None:
            return by_rules
        prompt = observations.observer_prompt(observations.transcript_excerpt(news.fresh))
        value = model_answer(self.generator, self.left, observations.OBSERVE, prompt)
        notes = observations.read_notes(value, news.fresh)
        quotes = "\n".join(note.quote for note in notes)
        failures = [note for note in by_rules if note.kind is Kind.ANTIPATTERN]
        missing = [note for note in failures if note.quote.strip(".!") not in quotes]
        return [*notes, *missing] if notes else by_rules

    def _conflicts(
        self, notes: Iterable[Note], session_id: str, generator: Generator | None
    ) -> Iterator[Conflict]:
        """
        Yield conflicts of decisions and preferences with their five best lexical matches; nothing is changed.

        A generator judges decisions of other sessions, if there is one.
        """
        for note in (note for note in notes if note.kind in REVISABLE):
            query = query_forms(note.quote).relaxed
            hits = self.lexical.search(query, Grain.DOCUMENT, 5, Scope(frozenset({COLLECTION})))
            for document in self.documents.many(hit.key.document_id for hit in hits).values():
                sightings = self.captures.sightings(document.id)
                is_own = any(sighting.session_id == session_id for sighting in sightings)
                # A merged decision has no sightings of its own; its title is what they say.
                is_merged = CONSOLIDATED in document.tags
                quote = sightings[0].quote if sightings else document.title if is_merged else ""
                if not quote or not (
                    document.content_type in REVISABLE
                    if is_own
                    else note.kind is Kind.DECISION and document.content_type in JUDGED
                ):
                    continue
                answer = verdict(note.quote, quote, 1 if is_own else 2)
                if generator and not is_own:
                    prompt = observations.judge_prompt(note.quote, quote)
                    value = model_answer(generator, self.left, observations.JUDGE, prompt)
                    answer = answer if value is None else observations.read_verdict(value)
                if answer is not Verdict.NONE:
                    yield Conflict(note, document, answer, is_own)

    # -- writing, inside a transaction --------------------------------------------------------------

    def _store(
        self,
        notes: Iterable[Note],
        conflicts: Sequence[Conflict],
        causes: Iterable[observations.Cause],
        session: Session,
    ) -> CaptureReport:
        saved: dict[Note, SavedMemory] = {}
        for note in sorted(dict.fromkeys(notes), key=lambda note: note.message.line):
            revised = [memory.document_id for old, memory in saved.items() if revises(note, old)]
            replaced = {document.path for document in self.documents.many(revised).values()}
            replaced |= {
                conflict.document.path for conflict in conflicts if conflict.is_own and conflict.note == note
            }
            saved[note] = self.memories.keep(note, session, supersedes=replaced)
            if number := saved[note].document_id:
                written_ms = parse_iso(note.message.at)
                self.publisher.facts.record(
                    number,
                    [(statement, note.quote) for statement in note.statements],
                    Resolve(self.entities).entity_named,
                    since=iso_utc(self.clock.now_ms() if written_ms is None else written_ms),
                    confidence=confidence_of(note.kind),
                )
        stored = [memory for memory in saved.values() if memory.document_id]
        changed = [
            conflict.document.id
            for conflict in conflicts
            if not conflict.is_own
            and saved[conflict.note].is_new
            and self._lower(conflict, saved[conflict.note].document_id)
        ]
        for cause in causes:
            source, target = (saved[fact.note].document_id for fact in (cause.source, cause.target))
            if source and target and source != target:
                facts = {"source_fact": cause.source.text, "target_fact": cause.target.text}
                why = {"reasoning": cause.reasoning, **facts}
                kind, now = RelationKind.CAUSAL, iso_utc(self.clock.now_ms())
                self.relations.put([Relation(source, target, kind, cause.confidence, READER, now, why)])
        return CaptureReport(
            tuple(memory.document_id for memory in stored if memory.is_new),
            tuple(memory.document_id for memory in stored if not memory.is_new),
            tuple(changed),
        )

    def _lower(self, conflict: Conflict, new_id: int) -> bool:
        """
        Lower the confidence of an earlier document because of the document *new_id*; return whether it changed.

        The two get a relation of contradiction. An observation whose confidence falls to 0.2 is withdrawn.
        """
        document = self.documents.get(conflict.document.id)
        if document is None or document.inactive is not None or document.id == new_id:
            return False
        kind, at = RelationKind.CONTRADICTS, document.indexed_at
        self.relations.put([Relation(new_id, document.id, kind, origin=READER, created_at=at)])
        confidence = lowered(document.confidence, conflict.verdict)
        if confidence == document.confidence:
            return False
        self.publisher.publish_again(document._replace(confidence=confidence))
        if is_invalid(document.content_type, confidence):
            self.publisher.withdraw([document.id], InactiveReason.SUPERSEDED)
        return True
