"""Decisions of conversations, and the earlier decisions that they replace."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from clawmem.app.services.capture.memories import Action, Memories, SavedMemory
from clawmem.app.services.capture.session import (
    CursorConflict,
    IsEcho,
    Left,
    Session,
    SessionReader,
    UnreadMessages,
    without_secrets,
)
from clawmem.app.services.indexing.publish import Publisher
from clawmem.app.services.knowledge.facts import Facts
from clawmem.domain.capture import causes, observations
from clawmem.domain.capture.antipatterns import antipatterns, with_antipatterns
from clawmem.domain.capture.causes import Cause
from clawmem.domain.capture.contradiction import Verdict, is_invalid, lowered, verdict
from clawmem.domain.capture.extraction import findings
from clawmem.domain.capture.kinds import Kind
from clawmem.domain.capture.notes import COLLECTION, Note, note_of, title_of
from clawmem.domain.documents.times import iso_utc, parse_iso
from clawmem.domain.knowledge.entities import CONCEPT, entity_id, ids_of, only_one
from clawmem.domain.knowledge.llm_answer import json_answer
from clawmem.domain.knowledge.triples import LITERAL, Statement, confidence_of
from clawmem.domain.retrieval.query_forms import query_forms
from clawmem.ports.clock import Clock
from clawmem.ports.errors import ModelError, VaultError
from clawmem.ports.knowledge import Entity, Relation, RelationKind, Triple
from clawmem.ports.models import Generator, JsonSchema, ModelFailure, ModelRole
from clawmem.ports.records import Document, Grain, InactiveReason, Scope
from clawmem.ports.transcripts import Transcripts
from clawmem.ports.vault import Vault

CANDIDATES = 5  # per new decision
ORIGIN = "decision-extractor"
JUDGED = frozenset({"decision", "observation"})

Judge = Callable[[str, str], Verdict]  # the new decision, the earlier one


class Conflict(NamedTuple):
    """A new decision, an earlier document that contradicts it, and the verdict."""

    note: Note
    document_id: int
    verdict: Verdict


class EarlierDecisions:
    """Finds earlier decisions that new ones contradict, and lowers their confidence."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._publisher = Publisher(vault)

    def conflicts(self, notes: Sequence[Note], session_id: str, judge: Judge = verdict) -> list[Conflict]:
        """
        Return conflicts of decisions among *notes* with decisions of other sessions; nothing is changed.

        Each decision is compared with its five best lexical matches.
        """
        found = []
        for note in notes:
            if note.kind is Kind.DECISION and not note.is_observation:
                for document, quote in self._candidates(note, session_id):
                    answer = judge(note.quote, quote)
                    if answer is not Verdict.NONE:
                        found.append(Conflict(note, document.id, answer))
        return found

    def settle(self, conflict: Conflict, new_id: int) -> bool:
        """
        Lower the confidence of an earlier document because of the document *new_id*; return whether it changed.

        The two get a relation of contradiction. An observation whose confidence falls to 0.2 is withdrawn. To be called
        inside `Vault.writing`.
        """
        document = self._vault.documents.get(conflict.document_id)
        if document is None or document.inactive is not None or document.id == new_id:
            return False
        confidence = lowered(document.confidence, conflict.verdict)
        self._vault.relations.put(
            [
                Relation(
                    new_id,
                    document.id,
                    RelationKind.CONTRADICTS,
                    origin=ORIGIN,
                    created_at=document.indexed_at,
                )
            ]
        )
        if confidence == document.confidence:
            return False
        self._save(document._replace(confidence=confidence))
        if is_invalid(document.content_type, confidence):
            self._publisher.withdraw([document.id], InactiveReason.SUPERSEDED)
        return True

    def _save(self, document: Document) -> None:
        self._publisher.publish_again(document)

    def _candidates(self, note: Note, session_id: str) -> list[tuple[Document, str]]:
        terms = query_forms(note.quote).relaxed
        hits = self._vault.lexical.search(terms, Grain.DOCUMENT, CANDIDATES, Scope(frozenset({COLLECTION})))
        documents = self._vault.documents.many(hit.key.document_id for hit in hits)
        found = []
        for document in documents.values():
            seen = self._vault.captures.sightings(document.id)
            is_ours = any(sighting.session_id == session_id for sighting in seen)
            if seen and not is_ours and document.content_type in JUDGED:
                found.append((document, seen[0].quote))
        return found


READER = "decision-extractor"
DEADLINE_S = 20.0
JUDGE_TOKENS = 60
LEAST_S = 1.0  # reserve; a model call must end this long before the deadline
DAY = len("2026-03-31")


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


class DecisionExtractor:
    """
    Reads new parts of a transcript and stores relevant memories, each with the sentence it comes from.

    A generator is asked first; without one, or when it fails, rules are used.

    Args:
        is_echo: Whether a sentence repeats injected context; such sentences are not captured.
        left: Returns the seconds left; after them, rules are used.
    """

    def __init__(
        self,
        vault: Vault,
        transcripts: Transcripts,
        clock: Clock,
        generator: Generator | None = None,
        *,
        is_echo: IsEcho = lambda sentence: False,
        left: Left = lambda: DEADLINE_S,
    ) -> None:
        self._vault = vault
        self._reader = SessionReader(vault.captures, transcripts, READER)
        self._memories = Memories(vault.captures, Publisher(vault), clock)
        self._statements = Statements(vault, clock)
        self._clock = clock
        self._earlier = EarlierDecisions(vault)
        self._generator = generator
        self._is_echo = is_echo
        self._left = left

    def __call__(self, session: Session) -> CaptureReport:
        """
        Store memories from the new part of *session*.

        Raises:
            InvalidInput, SourceUnreadable: the transcript cannot be read.
            VaultError: nothing was stored; the next call processes the same part again.
        """
        news = self._reader.news(session)
        if news is None:
            return NOTHING
        notes, degraded = self._notes(news)
        safe = [self._new_and_safe(note) for note in notes if not self._is_echo(note.quote)]
        conflicts = self._earlier.conflicts(safe, session.id, self._judge() if not degraded else verdict)
        led_to = [] if degraded else self._causes(safe)
        try:
            with self._vault.transactions.writing():
                stored = self._store(safe, conflicts, led_to, session)
                self._reader.finish(session, news)
        except CursorConflict:
            return NOTHING
        return replace(stored, degraded=degraded)

    def _notes(self, news: UnreadMessages) -> tuple[list[Note], str]:
        degraded = ""
        if self._generator:
            try:
                if seen := self._observed(news):
                    return [*seen, *map(note_of, antipatterns(news.fresh))], ""
                degraded = "the model noted nothing that the conversation supports"
            except ModelError as error:
                degraded = str(error)
        fresh = {message.line for message in news.fresh}
        found = [one for one in findings(news.messages) if one.message.line in fresh]
        return list(map(note_of, with_antipatterns(found, news.fresh))), degraded

    def _observed(self, news: UnreadMessages) -> list[Note]:
        said = without_secrets(observations.transcript_excerpt(news.fresh))
        value = self._asked(
            observations.observer_prompt(said), observations.OBSERVER, observations.MAX_TOKENS
        )
        notes = observations.read_notes(value, news.fresh)
        if lost := observations.lost_triples(value, notes):
            self._complain(f"none of the triples of {lost} observations could be used")
        return notes

    def _complain(self, reason: str) -> None:
        """Record a problem with the model's answers, which would otherwise go unnoticed."""
        assert self._generator is not None, "only its answers are complained of"
        failed_at = iso_utc(self._clock.now_ms())
        with suppress(VaultError):
            self._vault.model_failures.record(
                ModelFailure(ModelRole.GENERATOR, self._generator.fingerprint, failed_at, reason)
            )

    def _judge(self) -> Judge:
        if self._generator is None:
            return verdict
        return self._judged_by_model

    def _judged_by_model(self, new: str, old: str) -> Verdict:
        try:
            value = self._asked(observations.judge_prompt(new, old), observations.JUDGE, JUDGE_TOKENS)
        except ModelError:
            return verdict(new, old)
        return observations.read_verdict(value)

    def _causes(self, notes: Sequence[Note]) -> list[Cause]:
        """Return the causal relations that a model finds among notes with facts; none if it fails."""
        facts = causes.facts_of(notes)
        if self._generator is None or not facts:
            return []
        try:
            value = self._asked(causes.prompt(facts), causes.SCHEMA, causes.MAX_TOKENS)
        except ModelError:
            return []
        return causes.read_causes(value, facts)

    def _asked(self, prompt: str, schema: JsonSchema, max_tokens: int) -> Any:
        generator = self._generator
        assert generator is not None, "asked only where there is one"

        def ask(text: str) -> str:
            return generator.generate(
                text,
                timeout_s=max(0.0, self._left() - LEAST_S),
                max_tokens=max_tokens,
                temperature=observations.TEMPERATURE,
                schema=schema,
            )

        return json_answer(ask, prompt, schema, tell_dropped=self._skipped)

    def _skipped(self, dropped: int) -> None:
        self._complain(f"{dropped} parts of an answer were of no known type or shape and were skipped")

    def _new_and_safe(self, note: Note) -> Note:
        """Return *note* without secrets, and without repetitions of injected context."""
        quote = without_secrets(note.quote)
        is_cut = note.title == title_of(note.quote)
        return replace(
            note,
            title=title_of(quote) if is_cut else without_secrets(note.title),
            quote=quote,
            context=without_secrets(note.context),
            narrative="" if self._is_echo(note.narrative) else without_secrets(note.narrative),
            facts=tuple(without_secrets(fact) for fact in note.facts if not self._is_echo(fact)),
            statements=tuple(one for one in note.statements if all(without_secrets(p) == p for p in one)),
        )

    def _store(
        self, notes: Sequence[Note], conflicts: Sequence[Conflict], led_to: Sequence[Cause], session: Session
    ) -> CaptureReport:
        saved = {note: self._memories.keep(note, session.id) for note in dict.fromkeys(notes)}
        by_action = partial(_ids, saved.values())
        lowered = [
            conflict.document_id
            for conflict in conflicts
            if saved[conflict.note].action is Action.INSERTED
            and self._earlier.settle(conflict, saved[conflict.note].document_id)
        ]
        related = self._vault.relations.put(self._relations(led_to, saved))
        known = ((note, one.document_id) for note, one in saved.items() if one.document_id)
        said = sum(self._statements.keep(note, document_id) for note, document_id in known)
        return CaptureReport(
            by_action(Action.INSERTED), by_action(Action.MERGED), tuple(lowered), related, said
        )

    def _relations(self, led_to: Sequence[Cause], saved: Mapping[Note, SavedMemory]) -> Iterator[Relation]:
        now = iso_utc(self._clock.now_ms())
        for cause in led_to:
            source, target = (saved[fact.note].document_id for fact in (cause.source, cause.target))
            if source and target and source != target:
                why = {
                    "reasoning": without_secrets(cause.reasoning),
                    "source_fact": cause.source.text,
                    "target_fact": cause.target.text,
                }
                yield Relation(source, target, RelationKind.CAUSAL, cause.confidence, READER, now, why)


def _ids(saved: Any, action: Action) -> tuple[int, ...]:
    return tuple(one.document_id for one in saved if one.action is action)


class Statements:
    """Stores facts of notes, and ends facts that they replace. To be called inside `Vault.writing`."""

    def __init__(self, vault: Vault, clock: Clock) -> None:
        self._vault = vault
        self._clock = clock

    def keep(self, note: Note, document_id: int) -> int:
        """
        Store the facts in *note*, the document *document_id*, valid from its day; return the number of new ones.

        A name refers to the only entity of that name; if there is none or several, to a concept.
        """
        day = self._day(note)
        triples = [self._triple(one, note, document_id, day) for one in note.statements]
        new = self._vault.triples.add(triples)
        Facts(self._vault.documents, self._vault.triples).end_replaced(triples)
        return new

    def _day(self, note: Note) -> str:
        said_ms = parse_iso(note.message.at)
        return iso_utc(self._clock.now_ms() if said_ms is None else said_ms)[:DAY]

    def _triple(self, one: Statement, note: Note, document_id: int, day: str) -> Triple:
        return Triple(
            self._entity(one.subject),
            one.predicate,
            one.object if one.predicate in LITERAL else self._entity(one.object),
            document_id,
            valid_from=day,
            confidence=confidence_of("" if note.is_observation else note.kind),
            said=note.quote,
        )

    def _entity(self, name: str) -> Entity:
        found = only_one(name, self._vault.entities.known(ids_of(name)))
        return found or Entity(entity_id(name, CONCEPT), name, CONCEPT)
