"""Decisions of conversations, and the earlier decisions that they replace."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from clawmem.app.services.capture.memories import Action, Memories, SavedMemory
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
from clawmem.domain.capture import causes, observations
from clawmem.domain.capture.antipatterns import antipatterns, with_antipatterns
from clawmem.domain.capture.causes import Cause
from clawmem.domain.capture.contradiction import Verdict, is_invalid, lowered, verdict
from clawmem.domain.capture.extraction import findings
from clawmem.domain.capture.kinds import Kind
from clawmem.domain.capture.notes import COLLECTION, Note, note_of, title_of
from clawmem.domain.documents.times import iso_utc, parse_iso
from clawmem.domain.knowledge.entities import CONCEPT, entity_id, ids_of, only_one
from clawmem.domain.knowledge.triples import LITERAL, confidence_of
from clawmem.domain.retrieval.query_forms import query_forms
from clawmem.domain.security.redaction import redact
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import ModelError, VaultError
from clawmem.ports.indexes import LexicalIndex
from clawmem.ports.knowledge import (
    Entity,
    EntityStore,
    Relation,
    RelationKind,
    RelationStore,
    Triple,
    TripleStore,
)
from clawmem.ports.models import Generator, JsonSchema, ModelFailure, ModelFailures, ModelRole
from clawmem.ports.records import Grain, InactiveReason, Scope
from clawmem.ports.sessions import CaptureStore, Transcripts
from clawmem.ports.storage import Transactions

CANDIDATES = 5  # per new decision
READER = "decision-extractor"
JUDGE_TOKENS = 60
DAY = len("2026-03-31")
JUDGED = frozenset({"decision", "observation"})

Judge = Callable[[str, str], Verdict]  # the new decision, the earlier one


class Conflict(NamedTuple):
    """A new decision, an earlier document that contradicts it, and the verdict."""

    note: Note
    document_id: int
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class CaptureReport:
    """
    Results of one call.

    ``stored`` are new documents, ``merged`` those seen again, ``lowered`` earlier ones whose confidence was lowered.
    ``causes`` counts new causal relations, ``statements`` new facts. ``degraded`` is the reason why a model's answer is
    missing; empty if it is not, or if there is no model.
    """

    stored: tuple[int, ...] = ()
    merged: tuple[int, ...] = ()
    lowered: tuple[int, ...] = ()
    causes: int = 0
    statements: int = 0
    degraded: str = ""


NOTHING = CaptureReport()


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
    triples: TripleStore
    model_failures: ModelFailures
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
            return NOTHING
        notes, degraded = self._notes(news)
        safe = [self._new_and_safe(note) for note in notes if not self.is_echo(note.quote)]
        judge = verdict if self.generator is None or degraded else self._judged_by_model
        conflicts = self._conflicts(safe, session.id, judge)
        found_causes = [] if degraded else self._causes(safe)
        try:
            with self.transactions.writing():
                stored = self._store(safe, conflicts, found_causes, session)
                reader.finish(session, news)
        except CursorConflict:
            return NOTHING
        return replace(stored, degraded=degraded)

    def _notes(self, news: UnreadMessages) -> tuple[list[Note], str]:
        """Return the notes of a model, or of rules with the reason why a model's answer is missing."""
        degraded = ""
        if self.generator:
            try:
                excerpt = redact(observations.transcript_excerpt(news.fresh))
                prompt = observations.observer_prompt(excerpt)
                value = self._answer(prompt, observations.OBSERVER, observations.MAX_TOKENS)
                notes = observations.read_notes(value, news.fresh)
                if lost := observations.lost_triples(value, notes):
                    self._complain(f"none of the triples of {lost} observations could be used")
                if notes:
                    return [*notes, *map(note_of, antipatterns(news.fresh))], ""
                degraded = "the model noted nothing that the conversation supports"
            except ModelError as error:
                degraded = str(error)
        fresh = {message.line for message in news.fresh}
        in_news = [finding for finding in findings(news.part.messages) if finding.message.line in fresh]
        return list(map(note_of, with_antipatterns(in_news, news.fresh))), degraded

    def _judged_by_model(self, new: str, old: str) -> Verdict:
        try:
            value = self._answer(observations.judge_prompt(new, old), observations.JUDGE, JUDGE_TOKENS)
        except ModelError:
            return verdict(new, old)
        return observations.read_verdict(value)

    def _causes(self, notes: Sequence[Note]) -> list[Cause]:
        """Return the causal relations that a model finds among notes with facts; none if it fails."""
        facts = causes.facts_of(notes)
        if self.generator is None or not facts:
            return []
        try:
            return causes.read_causes(
                self._answer(causes.prompt(facts), causes.SCHEMA, causes.MAX_TOKENS), facts
            )
        except ModelError:
            return []

    def _answer(self, prompt: str, schema: JsonSchema, max_tokens: int) -> Any:
        assert self.generator is not None, "only called with a generator"

        def tell_dropped(dropped: int) -> None:
            self._complain(f"{dropped} parts of an answer were of no known type or shape and were skipped")

        return model_answer(self.generator, self.left, prompt, schema, max_tokens, tell_dropped)

    def _complain(self, reason: str) -> None:
        """Record a problem with the model's answers, which would otherwise go unnoticed."""
        assert self.generator is not None, "only its answers are complained of"
        failed_at = iso_utc(self.clock.now_ms())
        with suppress(VaultError):
            self.model_failures.record(
                ModelFailure(ModelRole.GENERATOR, self.generator.fingerprint, failed_at, reason)
            )

    def _new_and_safe(self, note: Note) -> Note:
        """Return *note* without secrets, and without repetitions of injected context."""
        quote = redact(note.quote)
        is_cut = note.title == title_of(note.quote)
        return replace(
            note,
            title=title_of(quote) if is_cut else redact(note.title),
            quote=quote,
            context=redact(note.context),
            narrative="" if self.is_echo(note.narrative) else redact(note.narrative),
            facts=tuple(redact(fact) for fact in note.facts if not self.is_echo(fact)),
            statements=tuple(
                statement for statement in note.statements if all(redact(p) == p for p in statement)
            ),
        )

    def _conflicts(self, notes: Sequence[Note], session_id: str, judge: Judge) -> list[Conflict]:
        """
        Return conflicts of decisions among *notes* with decisions of other sessions; nothing is changed.

        Each decision is compared with its five best lexical matches.
        """
        conflicts = []
        scope = Scope(frozenset({COLLECTION}))
        for note in notes:
            if note.kind is not Kind.DECISION or note.is_observation:
                continue
            hits = self.lexical.search(query_forms(note.quote).relaxed, Grain.DOCUMENT, CANDIDATES, scope)
            for document in self.documents.many(hit.key.document_id for hit in hits).values():
                sightings = self.captures.sightings(document.id)
                is_own = any(sighting.session_id == session_id for sighting in sightings)
                if sightings and not is_own and document.content_type in JUDGED:
                    answer = judge(note.quote, sightings[0].quote)
                    if answer is not Verdict.NONE:
                        conflicts.append(Conflict(note, document.id, answer))
        return conflicts

    def _settle(self, conflict: Conflict, new_id: int) -> bool:
        """
        Lower the confidence of an earlier document because of the document *new_id*; return whether it changed.

        The two get a relation of contradiction. An observation whose confidence falls to 0.2 is withdrawn.
        """
        document = self.documents.get(conflict.document_id)
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

    def _keep_facts(self, note: Note, document_id: int) -> int:
        """
        Store the facts in *note*, the document *document_id*, valid from its day; return the number of new ones.

        A name refers to the only entity of that name; if there is none or several, to a concept.
        """
        written_ms = parse_iso(note.message.at)
        day = iso_utc(self.clock.now_ms() if written_ms is None else written_ms)[:DAY]
        triples = [
            Triple(
                self._entity(statement.subject),
                statement.predicate,
                statement.object if statement.predicate in LITERAL else self._entity(statement.object),
                document_id,
                valid_from=day,
                confidence=confidence_of("" if note.is_observation else note.kind),
                said=note.quote,
            )
            for statement in note.statements
        ]
        new = self.triples.add(triples)
        self.publisher.facts.end_replaced(triples)
        return new

    def _entity(self, name: str) -> Entity:
        known = only_one(name, self.entities.known(ids_of(name)))
        return known or Entity(entity_id(name, CONCEPT), name, CONCEPT)

    def _store(
        self,
        notes: Sequence[Note],
        conflicts: Sequence[Conflict],
        found_causes: Sequence[Cause],
        session: Session,
    ) -> CaptureReport:
        saved = {note: self.memories.keep(note, session.id) for note in dict.fromkeys(notes)}
        inserted, merged = (
            tuple(memory.document_id for memory in saved.values() if memory.action is action)
            for action in (Action.INSERTED, Action.MERGED)
        )
        changed = [
            conflict.document_id
            for conflict in conflicts
            if saved[conflict.note].action is Action.INSERTED
            and self._settle(conflict, saved[conflict.note].document_id)
        ]
        related = self.relations.put(self._relations(found_causes, saved))
        statements = sum(
            self._keep_facts(note, memory.document_id) for note, memory in saved.items() if memory.document_id
        )
        return CaptureReport(inserted, merged, tuple(changed), related, statements)

    def _relations(
        self, found_causes: Sequence[Cause], saved: Mapping[Note, SavedMemory]
    ) -> Iterator[Relation]:
        now = iso_utc(self.clock.now_ms())
        for cause in found_causes:
            source, target = (saved[fact.note].document_id for fact in (cause.source, cause.target))
            if source and target and source != target:
                why = {
                    "reasoning": redact(cause.reasoning),
                    "source_fact": cause.source.text,
                    "target_fact": cause.target.text,
                }
                yield Relation(source, target, RelationKind.CAUSAL, cause.confidence, READER, now, why)
