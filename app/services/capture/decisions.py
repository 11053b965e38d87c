"""What was decided, wished, found broken, reached and left open in a session, as documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from clawmem.app.services.capture.earlier_decisions import Conflict, EarlierDecisions, Judge
from clawmem.app.services.capture.memories import Action, Memories
from clawmem.app.services.capture.session import (
    IsEcho,
    Left,
    MovedOn,
    News,
    Redact,
    Session,
    SessionReader,
)
from clawmem.domain.capture import observations
from clawmem.domain.capture.contradiction import Verdict, verdict
from clawmem.domain.capture.extraction import findings
from clawmem.domain.capture.notes import Note, note_of
from clawmem.domain.knowledge.llm_answer import json_answer
from clawmem.ports.clock import Clock
from clawmem.ports.errors import ModelError
from clawmem.ports.generator import Generator, JsonSchema
from clawmem.ports.transcripts import Transcripts
from clawmem.ports.vault import Vault

READER = "decision-extractor"
DEADLINE_S = 20.0
JUDGE_TOKENS = 60
LEAST_S = 1.0  # a model is not asked anything that it could not answer in time


@dataclass(frozen=True, slots=True)
class Captured:
    """
    What one call stored: new documents, those that were seen once more, earlier ones that are relied on less.

    ``degraded`` says why a model was no help, empty when it was or when there is none.
    """

    stored: tuple[int, ...] = ()
    merged: tuple[int, ...] = ()
    lowered: tuple[int, ...] = ()
    degraded: str = ""


NOTHING = Captured()


class DecisionExtractor:
    """
    Reads on in a transcript and stores what is worth keeping, each thing with the sentence it comes from.

    A generator is asked first; without one, or when it fails, rules find what they can.

    Args:
        redact: Takes secrets out of a text.
        is_echo: Whether a sentence repeats what was injected; it is not captured back.
        left: Seconds that may still be spent; beyond them rules do the work.
    """

    def __init__(
        self,
        vault: Vault,
        transcripts: Transcripts,
        clock: Clock,
        generator: Generator | None = None,
        *,
        redact: Redact = str,
        is_echo: IsEcho = lambda sentence: False,
        left: Left = lambda: DEADLINE_S,
    ) -> None:
        self._vault = vault
        self._reader = SessionReader(vault.captures, transcripts, READER)
        self._memories = Memories(vault, clock)
        self._earlier = EarlierDecisions(vault)
        self._generator = generator
        self._redact = redact
        self._is_echo = is_echo
        self._left = left

    def __call__(self, session: Session) -> Captured:
        """
        Store what is new in *session*.

        Raises:
            InvalidInput, SourceUnreadable: the transcript cannot be read.
            VaultError: nothing was stored; the next call finds the same again.
        """
        news = self._reader.news(session)
        if news is None:
            return NOTHING
        notes, degraded = self._notes(news)
        safe = [self._without_secrets(note) for note in notes if not self._is_echo(note.quote)]
        conflicts = self._earlier.conflicts(safe, session.id, self._judge() if not degraded else verdict)
        try:
            with self._vault.writing():
                stored = self._store(safe, conflicts, session)
                self._reader.finish(session, news)
        except MovedOn:
            return NOTHING
        return replace(stored, degraded=degraded)

    def _notes(self, news: News) -> tuple[list[Note], str]:
        degraded = ""
        if self._generator:
            try:
                if seen := self._observed(news):
                    return seen, ""
                degraded = "the model noted nothing that the conversation proves"
            except ModelError as error:
                degraded = str(error)
        fresh = {message.line for message in news.fresh}
        return [note_of(one) for one in findings(news.messages) if one.message.line in fresh], degraded

    def _observed(self, news: News) -> list[Note]:
        said = self._redact(observations.said(news.fresh))
        value = self._asked(
            observations.observer_prompt(said), observations.OBSERVER, observations.MAX_TOKENS
        )
        return observations.read_notes(value, news.fresh)

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

        return json_answer(ask, prompt, schema)

    def _without_secrets(self, note: Note) -> Note:
        return replace(
            note,
            title=self._redact(note.title),
            quote=self._redact(note.quote),
            context=self._redact(note.context),
            narrative=self._redact(note.narrative),
            facts=tuple(map(self._redact, note.facts)),
        )

    def _store(self, notes: Sequence[Note], conflicts: Sequence[Conflict], session: Session) -> Captured:
        saved = {note: self._memories.keep(note, session.id) for note in dict.fromkeys(notes)}
        by_action = partial(_ids, saved.values())
        lowered = [
            conflict.document_id
            for conflict in conflicts
            if saved[conflict.note].action is Action.INSERTED
            and self._earlier.settle(conflict, saved[conflict.note].document_id)
        ]
        return Captured(by_action(Action.INSERTED), by_action(Action.MERGED), tuple(lowered))


def _ids(saved: Any, action: Action) -> tuple[int, ...]:
    return tuple(one.document_id for one in saved if one.action is action)
