"""Memories of a session with the decisions that they replace, its handoff, and its state before a compaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, permutations
from typing import NamedTuple

from clawmem.app.services.capture.memories import Memories, SavedMemory
from clawmem.app.services.capture.session import RedactedTranscripts, Session, UnreadMessages, model_answer
from clawmem.app.services.indexing.publish import Publisher
from clawmem.app.services.knowledge.facts import Resolve
from clawmem.domain.capture import handoff, observations
from clawmem.domain.capture.contradiction import REVISABLE, Verdict, is_invalid, lowered, revises, verdict
from clawmem.domain.capture.cues import Kind
from clawmem.domain.capture.notes import COLLECTION, Note, handoff_path, notes_by_rules, session_name, source
from clawmem.domain.documents.times import iso_utc, parse_iso
from clawmem.domain.knowledge.triples import confidence_of, is_grounded
from clawmem.domain.maintenance.patterns import CONSOLIDATED
from clawmem.domain.retrieval.composite import baseline
from clawmem.domain.retrieval.query_forms import query_forms
from clawmem.domain.security.redaction import redact
from clawmem.domain.surfacing.use import answer_to, is_referenced
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import VaultError
from clawmem.ports.indexes import LexicalIndex
from clawmem.ports.knowledge import EntityStore, Relation, RelationKind, RelationStore
from clawmem.ports.models import Generator
from clawmem.ports.records import Document, Grain, InactiveReason, Origin, Scope
from clawmem.ports.sessions import CaptureStore, Cursor, SessionStore, Speaker, TranscriptMessage, UsageStore
from clawmem.ports.sessions import Session as SessionRecord
from clawmem.ports.storage import Transactions
from clawmem.ports.telemetry import Telemetry

READER, FEEDBACK = "decision-extractor", "feedback-loop"  # origins of relations, and names of cursors
JUDGED = frozenset({"decision", "observation"})
HANDOFF = "handoff"  # the content type
MOST_CHARACTERS = 20_000  # of a summary


class Conflict(NamedTuple):
    """A new decision, the document of an earlier one, the verdict, and whether the session itself said both."""

    note: Note
    document: Document
    verdict: Verdict
    is_own: bool


@dataclass(frozen=True, slots=True)
class SessionCapture:
    """
    Stores the memories and handoffs of sessions, and which documents their answers used.

    Transcripts are read incrementally. The cursor is stored in the transaction that stores the results, so that
    interrupted or repeated calls never process a message twice.

    A generator is asked first; without one, or when it fails, rules are used.

    Args:
        is_echo: Whether a sentence repeats injected context (see `fingerprint.is_echo`); it is not captured.
        left: Returns the seconds left; after them, rules are used.
    """

    captures: CaptureStore
    documents: DocumentStore
    sessions: SessionStore
    lexical: LexicalIndex
    relations: RelationStore
    telemetry: Telemetry
    usage: UsageStore
    entities: EntityStore
    transactions: Transactions
    publisher: Publisher
    memories: Memories
    transcripts: RedactedTranscripts
    clock: Clock
    generator: Generator | None = None
    is_echo: Callable[..., bool] = lambda sentence, by_user=False: False
    left: Callable[[], float] = lambda: 20.0

    def memorize(self, session: Session) -> list[SavedMemory]:
        """
        Store memories from the new part of *session*, each with the sentence it comes from, and return them.

        A generator judges conflicts with decisions of other sessions, if there is one.

        Raises:
            InvalidInput, SourceUnreadable: the transcript cannot be read.
            VaultError: nothing was stored; the next call processes the same part again.
        """
        news = self._news(session, READER)
        if news is None:
            return []
        # The notes of a model with the failures that it left out, or those of rules if it noted nothing.
        noted = [note for note in notes_by_rules(news.part.messages) if note.message.line > news.seen.line]
        if self.generator is not None:
            prompt = observations.observer_prompt(observations.transcript_excerpt(news.fresh))
            value = model_answer(self.generator, self.left, observations.OBSERVE, prompt)
            by_model = [*observations.read_notes(value, news.fresh)]
            quotes = "\n".join(note.quote for note in by_model)
            failures = [note for note in noted if note.kind is Kind.ANTIPATTERN]
            missing = [note for note in failures if note.quote.strip(".!") not in quotes]
            noted = [*by_model, *missing] if by_model else noted
        notes = [
            replace(
                note,
                narrative="" if self.is_echo(note.narrative) else note.narrative,
                facts=tuple(fact for fact in note.facts if not self.is_echo(fact)),
            )
            for note in noted
            if not self._repeats(note)
        ]
        generator = self.generator if any(note.is_by_model for note in notes) else None
        conflicts: list[Conflict] = []  # of decisions and preferences with their five best lexical matches
        for note in (note for note in notes if note.kind in REVISABLE):
            query = query_forms(note.quote).relaxed
            hits = self.lexical.search(query, Grain.DOCUMENT, 5, Scope(frozenset({COLLECTION})))
            for document in self.documents.many(hit.key.document_id for hit in hits).values():
                sightings = self.captures.sightings(document.id)
                own = [sighting.origin for sighting in sightings if sighting.session_id == session.id]
                # Only users revise users.
                is_barred = Speaker.USER in own and note.message.speaker is Speaker.ASSISTANT
                # A merged decision has no sightings of its own; its title is what they say.
                is_merged = CONSOLIDATED in document.tags
                quote = sightings[0].quote if sightings else document.title if is_merged else ""
                revisable = REVISABLE if own else JUDGED if note.kind is Kind.DECISION else ()
                if is_barred or not quote or document.content_type not in revisable:
                    continue
                answer = verdict(note.quote, quote, in_session=bool(own))
                if generator and not own:
                    prompt = observations.judge_prompt(note.quote, quote)
                    value = model_answer(generator, self.left, observations.JUDGE, prompt)
                    answer = answer if value is None else observations.read_verdict(value)
                if answer is not Verdict.NONE:
                    conflicts.append(Conflict(note, document, answer, bool(own)))
        causes: list[observations.Cause] = []
        facts = [observations.Fact(note, text) for note in notes for text in note.facts]
        if generator and len(facts) >= 2:
            prompt = observations.causes_prompt(facts)
            value = model_answer(generator, self.left, observations.CAUSES, prompt)
            causes = observations.read_causes(value, facts)
        with self.transactions.writing():
            is_first = self._finish(session, READER, news)
            return self._store(notes, conflicts, causes, session) if is_first else []

    def credit(self, session: Session) -> list[int]:
        """
        Compare each new answer of *session* with the documents surfaced for its turn, and return those that it references.

        A referenced document gets one more access, is marked in the telemetry, and is related by usage to the documents
        referenced in the same turn.

        Raises:
            InvalidInput, SourceUnreadable: the transcript cannot be read.
            VaultError: nothing was stored; the next call processes the same part again.
        """
        news = self._news(session, FEEDBACK)
        if news is None:
            return []
        referenced: dict[int, list[int]] = {}
        for recall in self.telemetry.recalls(session_id=session.id):
            if answer := answer_to(recall, news.part.messages):
                new = self.documents.many(hit.document_id for hit in recall.hits if not hit.was_referenced)
                referenced[recall.id] = sorted(
                    number for number, document in new.items() if is_referenced(document, answer)
                )
        with self.transactions.writing():
            if not self._finish(session, FEEDBACK, news):
                return []
            at = iso_utc(self.clock.now_ms())
            for numbers in referenced.values():
                self.usage.note(numbers, at)
                self.relations.put(
                    Relation(source, target, RelationKind.USAGE, origin=FEEDBACK, created_at=at)
                    for source, target in permutations(numbers, 2)
                )
        for recall_id, numbers in referenced.items():
            with suppress(VaultError):  # marks in the telemetry are best effort; usage is stored already
                self.telemetry.mark_referenced(recall_id, numbers)
        return list(dict.fromkeys(chain.from_iterable(referenced.values())))

    def _news(self, session: Session, name: str) -> UnreadMessages | None:
        """Return the messages since the last `_finish` of the cursor *name*; ``None`` if there are none."""
        stored = seen = self.captures.cursor(session.id, name)
        before = self.captures.cursor(session.id, f"{name}/before")
        part, rest = (self.transcripts.read(session.transcript, cursor) for cursor in (before, seen))
        if part.start.offset < before.offset or rest.start.offset < seen.offset:  # it was written again
            seen, part = Cursor(), self.transcripts.read(session.transcript)
        fresh = tuple(message for message in part.messages if message.line > seen.line)
        return UnreadMessages(stored, seen, part, fresh) if fresh else None

    def _finish(self, session: Session, name: str, news: UnreadMessages) -> bool:
        """Advance the cursor *name* past *news*; return false if another process has processed them meanwhile."""
        if self.captures.cursor(session.id, name) != news.stored:
            return False
        self.captures.advance(session.id, f"{name}/before", news.seen)
        self.captures.advance(session.id, name, news.part.end)
        return True

    def _store(
        self,
        notes: Iterable[Note],
        conflicts: Sequence[Conflict],
        causes: Iterable[observations.Cause],
        session: Session,
    ) -> list[SavedMemory]:
        """To be called inside a transaction."""
        saved: dict[Note, SavedMemory] = {}
        for note in sorted(dict.fromkeys(notes), key=lambda note: note.message.line):
            revised = [memory.document_id for old, memory in saved.items() if revises(note, old)]
            replaced = dict(self.documents.many(revised))
            replaced |= {c.document.id: c.document for c in conflicts if c.is_own and c.note == note}
            saved[note] = self.memories.keep(note, session, supersedes=replaced.values())
            if number := saved[note].document_id:
                written_ms = parse_iso(note.message.at)
                self.publisher.facts.record(
                    number,
                    [(statement, note.quote) for statement in note.statements],
                    Resolve(self.entities).entity_named,
                    since=iso_utc(self.clock.now_ms() if written_ms is None else written_ms),
                    confidence=confidence_of(note.kind),
                )
        for conflict in (conflict for conflict in conflicts if not conflict.is_own):
            new, earlier = saved[conflict.note], self.documents.get(conflict.document.id)
            if not new.is_new or earlier is None or earlier.inactive or earlier.id == new.document_id:
                continue
            kind, at = RelationKind.CONTRADICTS, earlier.indexed_at
            self.relations.put([Relation(new.document_id, earlier.id, kind, origin=READER, created_at=at)])
            confidence = lowered(earlier.confidence, conflict.verdict)
            if confidence != earlier.confidence:
                self.publisher.publish_again(earlier._replace(confidence=confidence))
                if is_invalid(earlier.content_type, confidence):
                    self.publisher.withdraw([earlier.id], InactiveReason.SUPERSEDED)
        for cause in causes:
            source, target = (saved[fact.note].document_id for fact in (cause.source, cause.target))
            if source and target and source != target:
                facts = {"source_fact": cause.source.text, "target_fact": cause.target.text}
                why = {"reasoning": cause.reasoning, **facts}
                kind, now = RelationKind.CAUSAL, iso_utc(self.clock.now_ms())
                self.relations.put([Relation(source, target, kind, cause.confidence, READER, now, why)])
        return [memory for memory in saved.values() if memory.document_id]

    def hand_over(self, session: Session) -> None:
        """
        Write the handoff of *session*, one document that every turn replaces, and record the end of the session.

        If there is nothing to hand over, an earlier handoff is kept. Repeating the call only updates the time.

        Raises:
            InvalidInput, SourceUnreadable: the transcript cannot be read, or the handoff was forgotten on request.
            VaultError: nothing was stored.
        """
        messages = self.transcripts.read(session.transcript).messages
        own, *others = map(self._handoff_of, (self.sessions.get(session.id), *self.sessions.recent(10)))
        last = [*handoff.next_steps(messages[-1].text)] if messages else []
        # An echo that the stored handoff contains is original. One of another remains if the last answer names it.
        named = handoff.remaining_steps(messages)
        repeated = [step for step in named if self.is_echo(step) and step not in own]
        remaining = [step for step in repeated if step in last and any(step in body for body in others)]
        steps = [step for step in named if step not in repeated or step in remaining]
        plain = handoff.by_rules(messages, self._in_force(messages), steps)
        sections, origin = plain, Origin.ASSISTANT
        if self.generator is not None:
            prompt = handoff.prompt(observations.transcript_excerpt(messages))
            value = model_answer(self.generator, self.left, handoff.HANDOFF, prompt)
            if value and any(value.values()):
                conversation = "\n".join(message.text for message in messages)
                written = {
                    name: [
                        item for item in items if not self.is_echo(item) and is_grounded(item, conversation)
                    ]
                    for name, items in value.items()
                }
                sections, origin = handoff.by_model(written, plain, steps), Origin.MODEL
        new = [step for step in sections.get("next", ()) if step not in remaining]
        is_kept = handoff.is_worth_keeping({**sections, "next": new}, {**plain, "next": new})
        now = iso_utc(self.clock.now_ms())
        moments = sorted(iso_utc(at) for message in messages if (at := parse_iso(message.at)) is not None)
        ended_at = min(moments[-1], now) if moments else now
        with self.transactions.writing():
            known = self.sessions.get(session.id)
            if not is_kept and known:
                self.sessions.save(replace(known, ended_at=max(ended_at, known.started_at)))
            if not is_kept:
                return
            entry = known or SessionRecord(session.id, min(moments[0], now) if moments else now)
            # An existing handoff keeps its path after midnight.
            place = entry.handoff_path or f"{COLLECTION}/{handoff_path(entry.started_at, session.id)}"
            path = place.removeprefix(f"{COLLECTION}/")
            title = f"Handoff of session {session_name(session.id)}"
            body = handoff.text_of(sections, title)
            before = self.documents.at(COLLECTION, path)
            if not before or before.inactive or self.documents.body(before.id) != body:
                self._store_handoff(path, title, body, ended_at, session, origin)
            changed = replace(
                entry,
                ended_at=ended_at,
                handoff_path=place,
                summary=handoff.summary_of(sections),
                files_changed=tuple(sections["files"]),
            )
            self.sessions.save(changed)

    def _handoff_of(self, entry: SessionRecord | None) -> str:
        path = (entry.handoff_path or "") if entry else ""
        document = self.documents.at(COLLECTION, path.removeprefix(f"{COLLECTION}/"))
        return (self.documents.body(document.id) or "") if document else ""

    def _store_handoff(
        self, path: str, title: str, body: str, at: str, session: Session, origin: Origin
    ) -> int:
        confidence, project = baseline(HANDOFF), session.project
        return self.memories.write(
            path, title, body, HANDOFF, confidence, at, origin=origin, project=project, is_local=True
        )

    def _repeats(self, note: Note) -> bool:
        return self.is_echo(note.quote, by_user=note.message.speaker is Speaker.USER)

    def _in_force(self, messages: Sequence[TranscriptMessage]) -> list[Note]:
        """
        Return the notes in *messages* that hold at their end, without repetitions of injected context.

        A note that was captured from the same message before is original, even if injected context repeats it now.
        """
        original = [
            note
            for note in notes_by_rules(messages)
            if not self._repeats(note) or self.captures.is_known(source(note.message.id, note.quote))
        ]
        numbered = enumerate(original, start=1)
        return [note for at, note in numbered if not any(revises(later, note) for later in original[at:])]

    def summarize(self, session: Session, summary: str) -> int:
        """
        Store the summary part of *summary* as another handoff, in place of the last summary; return its document id.

        The id is 0 if there is nothing new, or if the document was forgotten on request.

        Raises:
            VaultError: nothing was stored.
        """
        lines = handoff.summary_part(summary)[:MOST_CHARACTERS].splitlines()
        text = redact("\n".join(line for line in lines if not self.is_echo(line))).strip()
        if not text:
            return 0
        title = f"Session {session_name(session.id)} when its conversation was compacted"
        now = iso_utc(self.clock.now_ms())
        with self.transactions.writing():
            known = self.sessions.get(session.id)
            if known is None:  # its start names the summary, also of a compaction on a later day
                known = SessionRecord(session.id, now)
                self.sessions.save(known)
            path = handoff_path(known.started_at, session.id).replace(".md", "-compacted.md")
            before = self.documents.at(COLLECTION, path)
            if before is not None and before.inactive is InactiveReason.FORGOTTEN:
                return 0
            return self._store_handoff(path, title, f"# {title}\n\n{text}\n", now, session, Origin.ASSISTANT)

    def state(self, session: Session) -> str:
        """
        Return the state at the end of a transcript as Markdown; empty when there is nothing to preserve.

        Raises:
            InvalidInput, SourceUnreadable: the transcript cannot be read.
        """
        latest = self.transcripts.read(session.transcript, latest=handoff.MESSAGES).messages
        return handoff.state_of(latest, self._in_force(latest))
