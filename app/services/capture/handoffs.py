"""Handoffs: notes that a session leaves at its end and when its conversation is compacted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from clawmem.app.services.capture.memories import Memories
from clawmem.app.services.capture.session import DEADLINE_S, IsEcho, Left, Session, model_answer
from clawmem.domain.capture import handoff, observations
from clawmem.domain.capture.contradiction import revises
from clawmem.domain.capture.notes import COLLECTION, Note, handoff_path, notes_by_rules, session_name, source
from clawmem.domain.documents.times import iso_utc, parse_iso
from clawmem.domain.knowledge.triples import is_grounded
from clawmem.domain.retrieval.composite import baseline
from clawmem.domain.security.redaction import redact
from clawmem.ports import sessions
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore
from clawmem.ports.models import Generator
from clawmem.ports.records import InactiveReason, Origin
from clawmem.ports.sessions import CaptureStore, SessionStore, TranscriptMessage, Transcripts
from clawmem.ports.storage import Transactions

CONTENT_TYPE = "handoff"
MOST_CHARACTERS = 20_000  # of a summary


@dataclass(frozen=True, slots=True)
class Handoffs:
    """The handoff of each session, the summaries of its compactions, and its state before one."""

    captures: CaptureStore
    documents: DocumentStore
    sessions: SessionStore
    transactions: Transactions
    memories: Memories
    transcripts: Transcripts
    clock: Clock
    generator: Generator | None = None
    is_echo: IsEcho = lambda sentence: False
    left: Left = lambda: DEADLINE_S

    def write(self, session: Session) -> None:
        """
        Write the handoff of *session*, one document that every turn replaces, and record the end of the session.

        If there is nothing to hand over, an earlier handoff is kept. Repeating the call only updates the time.

        Raises:
            InvalidInput, SourceUnreadable: the transcript cannot be read, or the handoff was forgotten on request.
            VaultError: nothing was stored.
        """
        messages = self.transcripts.read(session.transcript).messages
        earlier = _path(self.sessions.get(session.id))
        stored = self.documents.at(COLLECTION, earlier) if earlier else None
        own = (self.documents.body(stored.id) or "") if stored else ""
        steps = [  # an echo that the stored handoff contains is original
            step for step in handoff.remaining_steps(messages) if not self.is_echo(step) or step in own
        ]
        plain = handoff.by_rules(messages, self._notes(messages), steps)
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
        is_kept = handoff.is_worth_keeping(sections, plain)
        now = iso_utc(self.clock.now_ms())
        moments = sorted(iso_utc(at) for message in messages if (at := parse_iso(message.at)) is not None)
        ended_at = min(moments[-1], now) if moments else now
        with self.transactions.writing():
            known = self.sessions.get(session.id)
            if not is_kept and known:
                self.sessions.save(replace(known, ended_at=max(ended_at, known.started_at)))
            if not is_kept:
                return
            entry = known or sessions.Session(session.id, min(moments[0], now) if moments else now)
            path = _path(known) or handoff_path(entry.started_at, session.id)
            title = f"Handoff of session {session_name(session.id)}"
            body = handoff.text_of(sections, title)
            before = self.documents.at(COLLECTION, path)
            if not before or before.inactive or self.documents.body(before.id) != body:
                self._store(path, title, body, ended_at, session, origin)
            changed = replace(
                entry,
                ended_at=ended_at,
                handoff_path=f"{COLLECTION}/{path}",
                summary=handoff.summary_of(sections),
                files_changed=tuple(sections["files"]),
            )
            self.sessions.save(changed)

    def _store(self, path: str, title: str, body: str, at: str, session: Session, origin: Origin) -> int:
        confidence, project = baseline(CONTENT_TYPE), session.project
        return self.memories.write(
            path, title, body, CONTENT_TYPE, confidence, at, origin=origin, project=project, is_local=True
        )

    def _notes(self, messages: Sequence[TranscriptMessage]) -> list[Note]:
        """
        Return the notes in *messages* that hold at their end, without repetitions of injected context.

        A note that was captured from the same message before is original, even if injected context repeats it now.
        """
        original = [
            note
            for note in notes_by_rules(messages)
            if not self.is_echo(note.quote) or self.captures.is_known(source(note.message.id, note.quote))
        ]
        return [
            note
            for place, note in enumerate(original)
            if not any(revises(later, note) for later in original[place + 1 :])
        ]

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
                known = sessions.Session(session.id, now)
                self.sessions.save(known)
            path = handoff_path(known.started_at, session.id).replace(".md", "-compacted.md")
            before = self.documents.at(COLLECTION, path)
            if before is not None and before.inactive is InactiveReason.FORGOTTEN:
                return 0
            return self._store(path, title, f"# {title}\n\n{text}\n", now, session, Origin.ASSISTANT)

    def state(self, session: Session) -> str:
        """
        Return the state at the end of a transcript as Markdown; empty when there is nothing to preserve.

        Raises:
            InvalidInput, SourceUnreadable: the transcript cannot be read.
        """
        latest = self.transcripts.read(session.transcript).messages[-handoff.MESSAGES :]
        return handoff.state_of(latest, self._notes(latest))


def _path(known: sessions.Session | None) -> str | None:
    """Return the path of the session's existing handoff; it stays the same after midnight."""
    path = known.handoff_path if known else None
    return path.removeprefix(f"{COLLECTION}/") if path else None
