"""Input of all readers of transcripts: sessions without secrets, read incrementally from a stored cursor."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from clawmem.domain.knowledge.llm_answer import ModelTask, json_answer
from clawmem.domain.security.redaction import redact_parts
from clawmem.ports.errors import ModelError
from clawmem.ports.models import Generator
from clawmem.ports.sessions import (
    BEGINNING,
    CaptureStore,
    Cursor,
    TranscriptMessage,
    TranscriptPart,
    Transcripts,
)

IsEcho = Callable[[str], bool]
Left = Callable[[], float]  # seconds until the work has to be done

DEADLINE_S = 20.0  # for all model calls of one capture
LEAST_S = 1.0  # reserve; a model call must end this long before the deadline
_BEFORE = "/before"


@dataclass(frozen=True, slots=True)
class RedactedTranscripts:
    """
    Wrapper of transcripts that redacts secrets for all later steps.

    Messages are redacted together, so that a secret of one message is also found where another repeats it.
    """

    transcripts: Transcripts

    def read(self, path: str, since: Cursor = BEGINNING) -> TranscriptPart:
        """Read like `Transcripts.read`, and redact the messages."""
        part = self.transcripts.read(path, since)

        def redacted(messages: tuple[TranscriptMessage, ...]) -> tuple[TranscriptMessage, ...]:
            texts = redact_parts([message.text for message in messages])
            return tuple(map(lambda message, text: replace(message, text=text), messages, texts))

        return replace(part, messages=redacted(part.messages), sidechains=redacted(part.sidechains))


def model_answer(generator: Generator, left: Left, task: ModelTask, prompt: str) -> Any | None:
    """Return the model's answer to the *prompt* of a task, see `json_answer`; ``None`` also if the model fails."""

    def ask(text: str) -> str:
        timeout_s = max(0.0, left() - LEAST_S)
        most, temperature, schema = task.max_tokens, task.temperature, task.schema
        return generator.generate(
            text, timeout_s=timeout_s, max_tokens=most, temperature=temperature, schema=schema
        )

    with suppress(ModelError):
        return json_answer(ask, prompt, task.schema)
    return None


class CursorConflict(Exception):
    """Another process has read this transcript in the meantime and stored the results."""


@dataclass(frozen=True, slots=True)
class Session:
    """
    A session with an agent: the client's session id, the absolute path of the transcript, and its project.

    The project is the root of the git repository in which the session runs, else its folder; empty if it is unknown.
    """

    id: str
    transcript: str
    project: str = ""


@dataclass(frozen=True, slots=True)
class UnreadMessages:
    """
    Messages of a transcript after ``seen``, and messages before it as context.

    ``part`` also has the messages of the previous call. ``stored`` is the cursor in the vault, which equals ``seen``
    unless the transcript was rewritten.
    """

    stored: Cursor
    seen: Cursor
    part: TranscriptPart

    @property
    def fresh(self) -> tuple[TranscriptMessage, ...]:
        """The messages after ``seen``."""
        return tuple(message for message in self.part.messages if message.line > self.seen.line)


@dataclass(frozen=True, slots=True)
class SessionReader:
    """
    Reads transcripts incrementally, for one purpose.

    The cursor is stored in the vault, in the transaction that stores the results, so that interrupted or repeated calls
    never process a message twice.
    """

    captures: CaptureStore
    transcripts: Transcripts
    name: str

    def news(self, session: Session) -> UnreadMessages | None:
        """
        Return the messages since the last `finish`; ``None`` if there are none.

        Raises:
            InvalidInput, SourceUnreadable: see `clawmem.ports.sessions.Transcripts.read`.
        """
        stored = seen = self.captures.cursor(session.id, self.name)
        part = self.transcripts.read(
            session.transcript, self.captures.cursor(session.id, self.name + _BEFORE)
        )
        if part.end.offset < seen.offset:
            seen = Cursor()
            part = self.transcripts.read(session.transcript, seen)
        news = UnreadMessages(stored, seen, part)
        return news if news.fresh else None

    def finish(self, session: Session, news: UnreadMessages) -> None:
        """
        Advance the cursor past *news*. To be called inside `Transactions.writing`, with the results.

        Raises:
            CursorConflict: another process has processed these messages.
        """
        if self.captures.cursor(session.id, self.name) != news.stored:
            raise CursorConflict
        self.captures.advance(session.id, self.name + _BEFORE, news.seen)
        self.captures.advance(session.id, self.name, news.part.end)
