"""Decisions of conversations, and the earlier decisions that they replace."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from clawmem.app.services.capture.memories import Action, Memories, SavedMemory
from clawmem.app.services.capture.session import (
    DEADLINE_S,
    CursorConflict,
    IsEcho,
    Left,
    ModelAnswer,
    Session,
    SessionReader,
    UnreadMessages,
    model_answer,
)
from clawmem.app.services.indexing.publish import Publisher
from clawmem.domain.capture import observations
from clawmem.domain.capture.contradiction import Revision, Verdict, is_invalid, lowered, revisions, verdict
from clawmem.domain.capture.cues import CaptureFinding, Kind, findings, payload
from clawmem.domain.capture.notes import COLLECTION, Note, note_of, title_of
from clawmem.domain.documents.times import iso_utc, parse_iso
from clawmem.domain.knowledge.entities import CONCEPT, entity_id, ids_of, only_one
from clawmem.domain.knowledge.triples import LITERAL, confidence_of
from clawmem.domain.retrieval.query_forms import query_forms
from clawmem.domain.security.redaction import redact
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore
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
from clawmem.ports.models import Generator, JsonSchema
from clawmem.ports.records import Document, Grain, InactiveReason, Scope
from clawmem.ports.sessions import CaptureStore, Transcripts
from clawmem.ports.storage import Transactions

CANDIDATES = 5  # per new decision
READER = "decision-extractor"
DAY = len("2026-03-31")
JUDGED = frozenset({"decision", "observation"})

Judge = Callable[[str, str], Verdict]  # the new decision, the earlier one


class Conflict(NamedTuple):
    """A new decision, the document of an earlier one, the verdict, and whether the session itself said both."""

    note: Note
    document: Document
    verdict: Verdict
    is_own: bool


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
        found = list(findings(news.part.messages))
        noted, degraded = self._notes(news, found)
        notes = [self._redacted(note) for note in noted if not self.is_echo(note.quote)]
        by_model = self.generator is not None and not degraded
        conflicts = self._conflicts(notes, session.id, self._judge if by_model else verdict)
        causes: list[observations.Cause] = []
        if by_model and (facts := observations.facts_of(notes)):
            prompt = observations.causes_prompt(facts)
            value, _ = self._ask(prompt, observations.CAUSES, observations.CAUSES_TOKENS)
            causes = observations.read_causes(value, facts)
        try:
            with self.transactions.writing():
                report = self._store(notes, conflicts, revisions(found), causes, session)
                reader.finish(session, news)
        except CursorConflict:
            return NOTHING
        return replace(report, degraded=degraded)

    # -- reading ------------------------------------------------------------------------------------

    def _notes(self, news: UnreadMessages, found: Iterable[CaptureFinding]) -> tuple[list[Note], str]:
        """Return the notes of a model, or of rules with the reason why a model's answer is missing."""
        by_rules = [note_of(finding) for finding in found if finding.message.line > news.seen.line]
        if self.generator is None:
            return by_rules, ""
        prompt = observations.observer_prompt(redact(observations.transcript_excerpt(news.fresh)))
        value, failure = self._ask(prompt, observations.OBSERVER, observations.MAX_TOKENS)
        if notes := observations.read_notes(value, news.fresh):
            quotes = "\n".join(note.quote for note in notes)
            failures = [note for note in by_rules if note.kind is Kind.ANTIPATTERN]
            return [*notes, *(note for note in failures if note.quote.strip(".!") not in quotes)], ""
        return by_rules, failure or "the model noted nothing that the conversation supports"

    def _judge(self, new: str, old: str) -> Verdict:
        prompt = observations.judge_prompt(new, old)
        value, failure = self._ask(prompt, observations.JUDGE, observations.JUDGE_TOKENS)
        return verdict(new, old) if failure else observations.read_verdict(value)

    def _ask(self, prompt: str, schema: JsonSchema, max_tokens: int) -> ModelAnswer:
        assert self.generator is not None, "only called with a generator"
        return model_answer(self.generator, self.left, prompt, schema, max_tokens)

    def _redacted(self, note: Note) -> Note:
        """Return *note* without secrets, and without repetitions of injected context."""
        quote = redact(note.quote)
        return replace(
            note,
            title=title_of(quote) if note.title == title_of(note.quote) else redact(note.title),
            quote=quote,
            context=redact(note.context),
            narrative="" if self.is_echo(note.narrative) else redact(note.narrative),
            facts=tuple(redact(fact) for fact in note.facts if not self.is_echo(fact)),
            statements=tuple(
                triple for triple in note.statements if all(redact(part) == part for part in triple)
            ),
        )

    def _conflicts(self, notes: Iterable[Note], session_id: str, judge: Judge) -> list[Conflict]:
        """Return conflicts of decisions among *notes* with their five best lexical matches; nothing is changed."""
        conflicts = []
        for note in (note for note in notes if note.kind is Kind.DECISION):
            query = query_forms(note.quote).relaxed
            hits = self.lexical.search(query, Grain.DOCUMENT, CANDIDATES, Scope(frozenset({COLLECTION})))
            for document in self.documents.many(hit.key.document_id for hit in hits).values():
                sightings = self.captures.sightings(document.id)
                if sightings and document.content_type in JUDGED:
                    is_own = any(sighting.session_id == session_id for sighting in sightings)
                    answer = (verdict if is_own else judge)(note.quote, sightings[0].quote)
                    if answer is not Verdict.NONE:
                        conflicts.append(Conflict(note, document, answer, is_own))
        return conflicts

    # -- writing, inside a transaction --------------------------------------------------------------

    def _store(
        self,
        notes: Iterable[Note],
        conflicts: Sequence[Conflict],
        revised: Sequence[Revision],
        causes: Iterable[observations.Cause],
        session: Session,
    ) -> CaptureReport:
        saved: dict[Note, SavedMemory] = {}
        for note in sorted(dict.fromkeys(notes), key=lambda note: note.message.line):
            replaced = {
                conflict.document.path for conflict in conflicts if conflict.is_own and conflict.note == note
            }
            for revision in revised:
                if note.quote.rstrip(".") in redact(revision.new.sentence):
                    sighting = self.captures.earliest(
                        payload(redact(revision.old.sentence)), revision.old.kind
                    )
                    earlier = self.documents.many([sighting.document_id]) if sighting else {}
                    replaced |= {document.path for document in earlier.values()}
            saved[note] = self.memories.keep(note, session, supersedes=replaced)
        inserted, merged = (
            tuple(memory.document_id for memory in saved.values() if memory.action is action)
            for action in (Action.INSERTED, Action.MERGED)
        )
        changed = [
            conflict.document.id
            for conflict in conflicts
            if not conflict.is_own
            and saved[conflict.note].action is Action.INSERTED
            and self._lower(conflict, saved[conflict.note].document_id)
        ]
        related = self.relations.put(self._relations(causes, saved))
        statements = sum(
            self._keep_facts(note, memory.document_id) for note, memory in saved.items() if memory.document_id
        )
        return CaptureReport(inserted, merged, tuple(changed), related, statements)

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

    def _keep_facts(self, note: Note, document_id: int) -> int:
        """Store the facts in *note*, the document *document_id*, valid from its day; return the number of new ones."""
        written_ms = parse_iso(note.message.at)
        day = iso_utc(self.clock.now_ms() if written_ms is None else written_ms)[:DAY]
        confidence = confidence_of(note.kind)
        triples = [
            Triple(
                self._entity(subject),
                predicate,
                other if predicate in LITERAL else self._entity(other),
                document_id,
                valid_from=day,
                confidence=confidence,
                said=note.quote,
            )
            for subject, predicate, other in note.statements
        ]
        new = self.triples.add(triples)
        self.publisher.facts.end_replaced(triples)
        return new

    def _entity(self, name: str) -> Entity:
        """Return the only entity of this name; if there is none or several, a concept."""
        known = only_one(name, self.entities.known(ids_of(name)))
        return known or Entity(entity_id(name, CONCEPT), name, CONCEPT)

    def _relations(
        self, causes: Iterable[observations.Cause], saved: Mapping[Note, SavedMemory]
    ) -> Iterator[Relation]:
        now = iso_utc(self.clock.now_ms())
        for cause in causes:
            source, target = (saved[fact.note].document_id for fact in (cause.source, cause.target))
            if source and target and source != target:
                why = {
                    "reasoning": redact(cause.reasoning),
                    "source_fact": cause.source.text,
                    "target_fact": cause.target.text,
                }
                yield Relation(source, target, RelationKind.CAUSAL, cause.confidence, READER, now, why)
