"""Handoffs: notes that a session leaves at its end and when its conversation is compacted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from clawmem.app.services.capture.memories import Memories
from clawmem.app.services.capture.session import (
    ENOUGH_MESSAGES,
    IsEcho,
    Left,
    Session,
    said_first,
    without_secrets,
)
from clawmem.app.services.indexing.publish import Publisher
from clawmem.domain.capture import handoff, observations
from clawmem.domain.capture.compaction import MESSAGES, state_of, summary_part
from clawmem.domain.capture.next_steps import remaining_steps
from clawmem.domain.capture.notes import (
    COLLECTION,
    handoff_path,
    handoff_title,
    summary_path,
    summary_title,
)
from clawmem.domain.documents.times import iso_utc, parse_iso
from clawmem.domain.knowledge.llm_answer import json_answer
from clawmem.domain.retrieval.confidence import baseline
from clawmem.ports import sessions
from clawmem.ports.clock import Clock
from clawmem.ports.errors import ModelError
from clawmem.ports.models import Generator
from clawmem.ports.records import InactiveReason
from clawmem.ports.sessions import CaptureStore
from clawmem.ports.transcripts import TranscriptMessage, Transcripts
from clawmem.ports.vault import Vault

CONTENT_TYPE = "handoff"
DEADLINE_S = 20.0
MAX_TOKENS = 1000
LEAST_S = 1.0


@dataclass(frozen=True, slots=True)
class HandoffResult:
    """The document id of a handoff, 0 if there is none, and the reason why a model's answer is missing."""

    document_id: int = 0
    degraded: str = ""


class HandoffGenerator:
    """
    Writes one document per session, rewritten at the end of every turn, and records the end of the session.

    Repeating the call only updates the time.
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
        self._transcripts = transcripts
        self._clock = clock
        self._memories = Memories(vault.captures, Publisher(vault), clock)
        self._generator = generator
        self._is_echo = is_echo
        self._left = left

    def __call__(self, session: Session) -> HandoffResult:
        """
        Write the current handoff of *session*. If there is nothing to hand over, an earlier handoff is kept.

        Raises:
            InvalidInput, SourceUnreadable: the transcript cannot be read, or the handoff was forgotten on request.
            VaultError: nothing was stored.
        """
        messages = self._transcripts.read(session.transcript, enough=ENOUGH_MESSAGES).messages
        sections, degraded = self._sections(messages, session)
        if not sections:
            with self._vault.transactions.writing():
                if entry := self._vault.sessions.get(session.id):
                    now = iso_utc(self._clock.now_ms())
                    self._vault.sessions.save(replace(entry, ended_at=now))
            return HandoffResult(degraded=degraded)
        safe = {name: [without_secrets(item) for item in items] for name, items in sections.items()}
        with self._vault.transactions.writing():
            return HandoffResult(self._store(safe, session, messages), degraded)

    def _sections(
        self, messages: Sequence[TranscriptMessage], session: Session
    ) -> tuple[Mapping[str, list[str]], str]:
        """Return the sections, empty if none is relevant, and the reason why a model's answer is missing."""
        found = said_first(messages, self._vault.captures, self._is_echo)
        steps = self._steps(messages, session)
        plain = handoff.by_rules(messages, found, steps)
        written, degraded = self._asked(messages)
        sections = handoff.by_model(written, plain, steps) if written else plain
        return (sections if handoff.is_worth_keeping(sections, plain) else {}), degraded

    def _steps(self, messages: Sequence[TranscriptMessage], session: Session) -> list[str]:
        """Return the open next steps in *messages*, without those that only repeat injected context."""
        own = self._body(session)
        return [
            step
            for step in remaining_steps(messages)
            if not self._is_echo(step) or without_secrets(step) in own
        ]

    def _body(self, session: Session) -> str:
        """Return the stored handoff of *session*; empty if there is none."""
        path = _path(self._vault.sessions.get(session.id))
        before = self._vault.documents.at(COLLECTION, path) if path else None
        return (self._vault.documents.body(before.id) or "") if before else ""

    def _asked(self, messages: Sequence[TranscriptMessage]) -> tuple[Mapping[str, list[str]] | None, str]:
        """Return the sections written by a model, without echoes, and the reason if they are missing."""
        if self._generator is None:
            return None, ""
        try:
            written = self._written(self._generator, messages)
        except ModelError as error:
            return None, str(error)
        if written is None:
            return None, "the model gave no usable answer"
        return {
            name: [item for item in items if not self._is_echo(item)] for name, items in written.items()
        }, ""

    def _written(
        self, generator: Generator, messages: Sequence[TranscriptMessage]
    ) -> Mapping[str, list[str]] | None:
        def ask(text: str) -> str:
            return generator.generate(
                text,
                timeout_s=max(0.0, self._left() - LEAST_S),
                max_tokens=MAX_TOKENS,
                temperature=observations.TEMPERATURE,
                schema=handoff.SCHEMA,
            )

        prompt = handoff.prompt(without_secrets(observations.transcript_excerpt(messages)))
        value = json_answer(ask, prompt, handoff.SCHEMA)
        return value if value and any(value.values()) else None

    def _store(
        self, sections: Mapping[str, Sequence[str]], session: Session, messages: Sequence[TranscriptMessage]
    ) -> int:
        known = self._vault.sessions.get(session.id)
        now_ms = self._clock.now_ms()
        now = iso_utc(now_ms)
        started = known.started_at if known else messages[0].at or now
        moments = [at for message in messages if (at := parse_iso(message.at)) is not None]
        said_at = iso_utc(min(max(moments, default=now_ms), now_ms))
        path = _path(known) or handoff_path(started, session.id)
        title = handoff_title(session.id)
        body = handoff.text_of(sections, title)
        before = self._vault.documents.at(COLLECTION, path)
        if before and before.inactive is None and self._vault.documents.body(before.id) == body:
            document_id = before.id
        else:
            document_id = self._memories.write(
                path, title, body, CONTENT_TYPE, baseline(CONTENT_TYPE), said_at
            )
        self._vault.sessions.save(
            replace(
                known or sessions.Session(session.id, started),
                ended_at=now,
                handoff_path=f"{COLLECTION}/{path}",
                summary=handoff.summary_of(sections),
                files_changed=tuple(sections["files"]),
            )
        )
        return document_id


def _path(known: sessions.Session | None) -> str | None:
    """Return the path of the session's existing handoff; it stays the same after midnight."""
    written = known.handoff_path if known else None
    return written.removeprefix(f"{COLLECTION}/") if written else None


CONTENT_TYPE = "handoff"
MOST_CHARACTERS = 20_000


class PrecompactExtract:
    """Extracts the state from the end of a transcript; the caller stores it."""

    def __init__(
        self, captures: CaptureStore, transcripts: Transcripts, *, is_echo: IsEcho = lambda sentence: False
    ) -> None:
        self._captures = captures
        self._transcripts = transcripts
        self._is_echo = is_echo

    def __call__(self, session: Session) -> str:
        """
        Return the Markdown of the state; empty when there is nothing to preserve.

        Raises:
            InvalidInput, SourceUnreadable: the transcript cannot be read.
        """
        messages = self._transcripts.read(session.transcript, enough=MESSAGES).messages[-MESSAGES:]
        found = said_first(messages, self._captures, self._is_echo)
        return without_secrets(state_of(messages, found))


class CompactionSummary:
    """Stores the last summary of each session as a handoff, in addition to that of the session's end."""

    def __init__(self, vault: Vault, clock: Clock, *, is_echo: IsEcho = lambda sentence: False) -> None:
        self._vault = vault
        self._clock = clock
        self._memories = Memories(vault.captures, Publisher(vault), clock)
        self._is_echo = is_echo

    def __call__(self, session_id: str, summary: str) -> int:
        """
        Store the summary part of *summary*; return the id of its document.

        The id is 0 if there is nothing new, or if the document was forgotten on request.

        Raises:
            VaultError: nothing was stored.
        """
        told = summary_part(summary)[:MOST_CHARACTERS]
        lines = [line for line in told.splitlines() if not self._is_echo(line)]
        said = without_secrets("\n".join(lines)).strip()
        if not said:
            return 0
        title = summary_title(session_id)
        with self._vault.transactions.writing():
            return self._store(session_id, title, f"# {title}\n\n{said}\n")

    def _store(self, session_id: str, title: str, body: str) -> int:
        known, now = self._vault.sessions.get(session_id), iso_utc(self._clock.now_ms())
        if known is None:  # its start names the summary, also of a compaction on a later day
            known = sessions.Session(session_id, now)
            self._vault.sessions.save(known)
        path = summary_path(known.started_at, session_id)
        before = self._vault.documents.at(COLLECTION, path)
        if before is not None and before.inactive is InactiveReason.FORGOTTEN:
            return 0
        return self._memories.write(path, title, body, CONTENT_TYPE, baseline(CONTENT_TYPE), now)
